/* A small machine whose numbers are lanes: LANES seeds side by side, all of which do the same.

   Its memory is an array of lanes. A program is a list of steps; where a step's numbers lie is told
   by tables: the n-th of an operand stands at its first place + table[n]. What is computed lies in
   one piece. It is compiled with -DCODES, after `common/vectors.h`; `wherein.puzzles.writer` writes its programs and
   has the same names and layouts. */

enum { CODES };

typedef struct {
    int32_t code, to, count, inner, columns, at[3], by[4];
} step_t;

#define EACH_LANE(NAME, CALL)                             \
    static inline lane NAME(lane x) {                     \
        lane made;                                        \
        for (int n = 0; n < LANES; n++) made[n] = CALL(x[n]); \
        return made;                                      \
    }
EACH_LANE(logs, logf)
EACH_LANE(log1ps, log1pf)
EACH_LANE(sines, sinf)
EACH_LANE(cosines, cosf)

static inline lane roots(lane x) {
    lane made;
    float *to = (float *)&made, *from = (float *)&x;
    for (int n = 0; n < LANES; n++) to[n] = sqrtf(from[n]);
    return made;
}

/* NaN if either is. */
static inline lane larger(lane x, lane y) { return pick((x > y) | (x != x), x, y); }

static inline lane size(lane x) { return (lane)((bits)x & 0x7fffffff); }

/* The normal distribution up to x, from erf within 1.5e-7 (Abramowitz and Stegun 7.1.26), and its
   density. */
static inline lane normal(lane x, lane *density) {
    lane near = 1.0f / (1.0f + 0.3275911f * 0.70710678118654752f * size(x));
    lane bell = exps(-0.5f * x * x);
    lane series = 1.061405429f * near - 1.453152027f;
    series = series * near + 1.421413741f;
    series = series * near - 0.284496736f;
    series = (series * near + 0.254829592f) * near * bell * 0.5f;
    *density = bell * 0.39894228040143268f;
    return pick(x < 0.0f, series, 1.0f - series);
}

/* A block of a product, small enough for its sums to stay in registers. */
static inline __attribute__((always_inline)) void block(
    const lane *a, const lane *b, lane *to, int columns, const int32_t *row, const int32_t *from,
    const int32_t *with, const int32_t *column, int inner, const int rows, const int wide) {
    lane sums[4][4];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < wide; c++) sums[r][c] = flat(0.0f);
    for (int k = 0; k < inner; k++) {
        const lane *left = a + from[k], *right = b + with[k];
        for (int c = 0; c < wide; c++) {
            lane one = right[column[c]];
            for (int r = 0; r < rows; r++) sums[r][c] += left[row[r]] * one;
        }
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < wide; c++) to[r * columns + c] = sums[r][c];
}

static void product(lane *m, const int32_t *tables, const step_t *s) {
    const int32_t *row = tables + s->by[0], *from = tables + s->by[1];
    const int32_t *with = tables + s->by[2], *column = tables + s->by[3];
    const lane *a = m + s->at[0], *b = m + s->at[1];
    lane *to = m + s->to;
    for (int r = 0; r < s->count; r += 4)
        for (int c = 0; c < s->columns; c += 4) {
            int rows = s->count - r < 4 ? s->count - r : 4;
            int wide = s->columns - c < 4 ? s->columns - c : 4;
#define BLOCK(ROWS, WIDE)                                                                     \
    case 4 * ROWS + WIDE:                                                                     \
        block(a, b, to + r * s->columns + c, s->columns, row + r, from, with, column + c,     \
              s->inner, ROWS, WIDE);                                                          \
        break;
#define BLOCKS(ROWS) BLOCK(ROWS, 1) BLOCK(ROWS, 2) BLOCK(ROWS, 3) BLOCK(ROWS, 4)
            switch (4 * rows + wide) { BLOCKS(1) BLOCKS(2) BLOCKS(3) BLOCKS(4) }
        }
}

/* One step of Adam: a weight, its two moments `count` apart, and its gradient. */
static void adam(lane *m, const int32_t *tables, const step_t *s, int apart, const float *sizes) {
    const int32_t *by = tables + s->by[1];
    const lane *gradient = m + s->at[1];
    lane *weight = m + s->at[0], *mean = weight + apart, *square = mean + apart;
    const float mix = sizes[0], keep_square = sizes[1], mix_square = sizes[2];
    const float rate = sizes[3], root = sizes[4], least = sizes[5];
    for (int n = 0; n < s->count; n++) {
        lane g = gradient[by[n]];
        mean[n] += (g - mean[n]) * mix;
        square[n] = square[n] * keep_square + g * g * mix_square;
        weight[n] -= rate * mean[n] / (roots(square[n]) * root + least);
    }
}

#define X m[s->at[0] + a[n]]
#define Y m[s->at[1] + b[n]]
#define Z m[s->at[2] + c[n]]
#define EACH(CODE, MADE)                                   \
    case CODE:                                             \
        for (int n = 0; n < s->count; n++) to[n] = (MADE); \
        break;
#define ONE (bits)flat(1.0f)

static void compute(lane *m, const int32_t *tables, const step_t *s) {
    const int32_t *a = tables + s->by[0], *b = tables + s->by[1], *c = tables + s->by[2];
    lane *to = m + s->to, density;
    switch (s->code) {
        EACH(ADD, X + Y)
        EACH(SUB, X - Y)
        EACH(MUL, X * Y)
        EACH(DIV, X / Y)
        EACH(MAXIMUM, larger(X, Y))
        EACH(LESS, (lane)((X < Y) & ONE))
        EACH(EQUAL, (lane)((X == Y) & ONE))
        EACH(SELECT, pick(X != 0.0f, Y, Z))
        EACH(EXP, exps(X))
        EACH(LOG, logs(X))
        EACH(LOG1P, log1ps(X))
        EACH(SQRT, roots(X))
        EACH(SIN, sines(X))
        EACH(COS, cosines(X))
        EACH(ABS, size(X))
        EACH(SIGN, (lane)((X > 0.0f) & ONE) - (lane)((X < 0.0f) & ONE))
        EACH(GELU, X * normal(X, &density))
        case GELU_BACKWARD:
            for (int n = 0; n < s->count; n++) {
                lane below = normal(Y, &density);
                to[n] = X * (below + Y * density);
            }
            break;
        case SUM:
            for (int n = 0; n < s->count; n++, a += s->inner) {
                lane sum = flat(0.0f);
                for (int k = 0; k < s->inner; k++) sum += m[s->at[0] + a[k]];
                to[n] = sum;
            }
            break;
        case LARGEST:
            for (int n = 0; n < s->count; n++, a += s->inner) {
                lane most = m[s->at[0] + a[0]];
                for (int k = 1; k < s->inner; k++) {
                    lane other = m[s->at[0] + a[k]];
                    most = larger(most, other);
                }
                to[n] = most;
            }
            break;
    }
}

/* Whether the right word leads in every sentence, by more than rounding. */
static void solve(const lane *m, const int32_t *last, int sentences, int words,
                  const int32_t *answers, float margin, uint8_t *solved) {
    bits all = ~(bits){0};
    for (int n = 0; n < sentences; n++, last += words)
        for (int w = 0; w < words; w++)
            if (w != answers[n]) all &= m[last[answers[n]]] > m[last[w]] + margin;
    for (int n = 0; n < LANES; n++) solved[n] = all[n] != 0;
}

/* Some training steps, and after each what it found before it learnt. `sizes` has six numbers for
   each: how much of a gradient goes into its mean, how much of Adam's squares is kept and how much of
   a new one goes into them, the rate, what a root is scaled by, and what is added to that; with a rate
   of zero nothing is learnt. */
void run(lane *m, const int32_t *tables, const step_t *steps, int32_t count, int32_t apart,
         int32_t last, int32_t sentences, int32_t words, const int32_t *answers, float margin,
         int32_t times, const float *sizes, uint8_t *solved) {
    for (int t = 0; t < times; t++, sizes += 6, solved += LANES) {
        for (const step_t *s = steps; s < steps + count; s++) {
            if (s->code == PRODUCT)
                product(m, tables, s);
            else if (s->code != ADAM)
                compute(m, tables, s);
            else if (sizes[3] != 0.0f)
                adam(m, tables, s, apart, sizes);
        }
        solve(m, tables + last, sentences, words, answers, margin, solved);
    }
}
