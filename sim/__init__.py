"""What happens when: the serving loop, its clock, and the command line that puts all rooms together."""
