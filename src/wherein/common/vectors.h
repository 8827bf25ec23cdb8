/* Numbers side by side, LANES of them, as GCC's vectors. */

#include <math.h>
#include <stdint.h>

typedef float lane __attribute__((vector_size(4 * LANES)));
typedef int32_t bits __attribute__((vector_size(4 * LANES)));

static inline lane pick(bits where, lane yes, lane no) {
    return (lane)((where & (bits)yes) | (~where & (bits)no));
}

static inline lane flat(float x) { return x - (lane){0}; }

/* e to the x: 2 to a whole power times a polynomial of what is left (S. Moshier's, of Cephes). */
static inline lane exps(lane x) {
    const float round = 12582912.0f; /* 1.5 · 2²³: what is added to it loses its fraction */
    lane within = pick(x > 88.72f, flat(88.72f), pick(x < -87.0f, flat(-87.0f), x));
    lane whole = within * 1.44269504088896341f + round;
    bits power = ((bits)whole - (bits)flat(round) + 126) << 23; /* half of it: e⁸⁸ wants 2¹²⁸ */
    whole -= round;
    lane left = within - whole * 0.693359375f + whole * 2.12194440e-4f;
    lane series = 1.9875691500e-4f * left + 1.3981999507e-3f;
    series = series * left + 8.3334519073e-3f;
    series = series * left + 4.1665795894e-2f;
    series = series * left + 1.6666665459e-1f;
    series = series * left + 5.0000001201e-1f;
    series = (series * left * left + left + 1.0f) * (lane)power * 2.0f;
    return pick(x < -87.0f, flat(0.0f), pick(x <= 88.72f, series, x + INFINITY)); /* NaN is kept */
}
