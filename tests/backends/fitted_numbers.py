"""Made-up numbers of a fitted cost model."""

from backends.simulated.fitted_times import (
    AttentionTimes,
    DecodeTimes,
    FittedTimes,
    HostTimes,
    LaunchTimes,
    ProductTimes,
    PromptTimes,
)


def fitted_times(scale: float = 1.0) -> FittedTimes:
    """Times of a small model on a quick GPU, all device times multiplied by `scale`."""

    def scaled(*values: float) -> tuple[float, ...]:
        return tuple([scale * value for value in values])

    return FittedTimes(
        attention=AttentionTimes(
            rows=(1.0, 16.0, 256.0),
            context_limits=(1024.0, 4096.0),
            full_rows=32.0,
            top_spreads=(0.0, 0.0, 1.5),
            shared_saving=0.5,
            call_us=(scaled(0.0, 0.0, 0.0), scaled(20.0, 15.0, 0.0), scaled(40.0, 35.0, 5.0)),
            even_us=(scaled(0.0, 5.0, 10.0), scaled(0.0, 8.0, 20.0), scaled(0.0, 10.0, 40.0)),
            per_1k_tokens_us=(scaled(30.0, 27.0, 29.0), scaled(24.0, 26.0, 29.5), scaled(23.0, 28.0, 29.0)),
            tail_per_1k_us=(scaled(9.0, 50.0, 300.0), scaled(3.0, 20.0, 200.0), scaled(1.0, 20.0, 100.0)),
        ),
        decode=DecodeTimes(
            products=ProductTimes(tokens=(1.0, 8.0, 64.0, 256.0), time_us=scaled(1200.0, 1210.0, 1400.0, 2100.0)),
            sampled_row_us=scale * 0.3,
        ),
        prompts=PromptTimes(
            products=ProductTimes(tokens=(16.0, 512.0, 8192.0), time_us=scaled(1500.0, 2600.0, 17_000.0)),
            beside_decodes_us=scale * 180.0,
            sampled_row_us=scale * 0.4,
            chunk_us=scale * 12.0,
            pairs_per_1m_us=scale * 450.0,
            context_per_1k_us=scaled(60.0, 40.0, 4.0),
        ),
        launches=LaunchTimes(decode_us=scale * 9000.0, prompts_us=scale * 11_000.0, mixed_us=scale * 13_000.0),
        host=HostTimes(
            decode_us=300.0,
            prompts_us=500.0,
            eager_decode_us=700.0,
            eager_prompts_us=900.0,
            row_us=3.0,
            chunk_us=20.0,
            prompt_1k_us=100.0,
            context_1k_us=0.2,
            block_us=1.5,
            admission_us=40.0,
            release_us=6.0,
            stalls_us=15.0,
        ),
    )
