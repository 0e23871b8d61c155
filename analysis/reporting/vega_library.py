"""The JavaScript that draws figures, as text to put into a page."""

from functools import cache

from analysis.errors import ReportError


@cache
def vega_library() -> str:
    """Vega, Vega-Lite and Vega-Embed, out of the package vl-convert-python; takes some seconds the first time.

    Raises:
        ReportError: the package is not installed.
    """
    try:
        import vl_convert
    except ImportError as error:
        raise ReportError(
            f"An HTML report needs vl-convert-python, which cannot be imported ({error}); install it with pip install "
            "'twinserve[report]', or take --markdown or --csv, which need nothing more."
        ) from None
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
