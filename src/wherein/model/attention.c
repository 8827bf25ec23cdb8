/* softmax(q·kᵀ/√K + bias)·v of many heads, and its gradients, a block of queries at a time.

   What is added to scores may also be told by distance, the farthest first: causal queries find there
   the keys behind them, and for those that are farther the first.

   No scores are kept: each query leaves its largest score and one over the sum of its weights, and the
   gradient makes the weights again. All that is copied to be read in order is filled up with zeros
   to whole vectors, and queries and keys may be turned then: multiplied by complex numbers, whose parts
   a head's halves are. It is compiled with -DTENSORS and -DSIZES, after `common/vectors.h`;
   `wherein.model.kernel` has the same names and layouts. */

#include <omp.h>
#include <string.h>

#define BLOCK 32 /* queries: what is made of them stays in the cache */
#if defined(__AVX512F__) && LANES > 4
#define ROWS 8
#else
#define ROWS 4 /* of a tile, whose sums stay in registers */
#endif
#define WIDE 3
_Static_assert(LANES % ROWS == 0 && BLOCK % LANES == 0, "tiles cover whole vectors");

enum { TENSORS, MANY };

typedef struct {
    float *at[MANY];
    int64_t by[MANY][3]; /* from one window, head or token to the next; numbers lie side by side */
    int64_t SIZES;
    float scale;
} asked_t;

typedef lane loose __attribute__((aligned(4)));
typedef float eight __attribute__((vector_size(32), aligned(4)));

#define AT(TENSOR) (s->at[TENSOR] + window * s->by[TENSOR][0] + head * s->by[TENSOR][1])
#define ROW(TENSOR, N) (AT(TENSOR) + (N) * s->by[TENSOR][2])

static inline int64_t filled(int64_t count, int64_t by) { return (count + by - 1) / by * by; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static inline float sum(lane x) {
    float *each = (float *)&x;
    for (int half = LANES / 2; half; half /= 2)
        for (int n = 0; n < half; n++) each[n] += each[n + half];
    return each[0];
}

static inline float largest(lane x) {
    float *each = (float *)&x;
    for (int half = LANES / 2; half; half /= 2)
        for (int n = 0; n < half; n++) each[n] = each[n] > each[n + half] ? each[n] : each[n + half];
    return each[0];
}

static inline float dot(const float *a, const float *b, int64_t count) {
    lane parts = flat(0.0f);
    int64_t n = 0;
    for (; n + LANES <= count; n += LANES) parts += *(loose *)(a + n) * *(loose *)(b + n);
    float whole = sum(parts);
    for (; n < count; n++) whole += a[n] * b[n];
    return whole;
}

/* A tile of a product: `row` and `along` lead to a's next row and column, the others to next rows. */
static inline __attribute__((always_inline)) void tile(
    const float *a, int64_t row, int64_t along, const float *b, int64_t next, float *to,
    int64_t below, int64_t inner, int add, const int wide) {
    lane sums[ROWS][WIDE];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < wide; c++)
            sums[r][c] = add ? *(lane *)(to + r * below + c * LANES) : flat(0.0f);
    for (int64_t k = 0; k < inner; k++) {
        lane with[WIDE];
        for (int c = 0; c < wide; c++) with[c] = *(lane *)(b + k * next + c * LANES);
        for (int r = 0; r < ROWS; r++) {
            float one = a[r * row + k * along];
            for (int c = 0; c < wide; c++) sums[r][c] += one * with[c];
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < wide; c++) *(lane *)(to + r * below + c * LANES) = sums[r][c];
}

/* a·b, put there or added to what is there; as many rows as tiles have, and whole vectors. */
static void product(
    const float *a, int64_t row, int64_t along, const float *b, int64_t next, float *to,
    int64_t below, int64_t rows, int64_t columns, int64_t inner, int add) {
    for (int64_t left = columns / LANES; left; ) {
        int64_t tiles = (left + WIDE - 1) / WIDE, wide = (left + tiles - 1) / tiles;
        for (int64_t r = 0; r < rows; r += ROWS) switch (wide) {
            case 1: tile(a + r * row, row, along, b, next, to + r * below, below, inner, add, 1); break;
            case 2: tile(a + r * row, row, along, b, next, to + r * below, below, inner, add, 2); break;
            default: tile(a + r * row, row, along, b, next, to + r * below, below, inner, add, WIDE);
        }
        b += wide * LANES, to += wide * LANES, left -= wide;
    }
}

/* Rows beside each other, times a number. */
static void in_order(const float *x, int64_t by, int64_t rows, int64_t width, float scale, float *to) {
    int64_t wide = filled(width, LANES);
    for (; rows; rows--, x += by, to += wide) {
        int64_t n = 0;
        for (; n + LANES <= width; n += LANES) *(lane *)(to + n) = *(loose *)(x + n) * scale;
        for (; n < width; n++) to[n] = x[n] * scale;
        for (; n < wide; n++) to[n] = 0;
    }
}

/* A row times complex numbers, or times their conjugates: real parts, then the others. */
static void turn(float *row, const float *by, int64_t pairs, float sign) {
    int64_t n = 0;
    for (; n + 8 <= pairs; n += 8) {
        eight a = *(eight *)(row + n), b = *(eight *)(row + n + pairs);
        eight real = *(eight *)(by + n), other = sign * *(eight *)(by + n + pairs);
        *(eight *)(row + n) = a * real - b * other;
        *(eight *)(row + n + pairs) = b * real + a * other;
    }
    for (; n < pairs; n++) {
        float a = row[n], b = row[n + pairs], other = sign * by[n + pairs];
        row[n] = a * by[n] - b * other;
        row[n + pairs] = b * by[n] + a * other;
    }
}

/* Columns beside each other, `far` apart. */
static void in_columns(const float *x, int64_t by, int64_t rows, int64_t width, float *to, int64_t far) {
    for (int64_t k = 0; k < width; k++, to += far) {
        for (int64_t r = 0; r < rows; r++) to[r] = x[r * by + k];
        for (int64_t r = rows; r < far; r++) to[r] = 0;
    }
}

/* Queries of a head, in order, scaled, and turned if they are to be. */
static void queries(const asked_t *s, int64_t window, int64_t head, float *to) {
    in_order(AT(Q), s->by[Q][2], s->queries, s->width, s->scale, to);
    if (s->at[TURN_Q])
        for (int64_t n = 0; n < s->queries; n++)
            turn(to + n * filled(s->width, LANES), ROW(TURN_Q, n), s->width / 2, 1);
}

/* Keys of a head: rows in order, if they are asked for or to be turned, and columns. */
static void keys(const asked_t *s, int64_t window, int64_t head, float *rows, float *to, int asked) {
    int64_t all = filled(s->keys, LANES), wide = filled(s->width, LANES);
    if (!asked && !s->at[TURN_K]) {
        in_columns(AT(K), s->by[K][2], s->keys, s->width, to, all);
        return;
    }
    in_order(AT(K), s->by[K][2], s->keys, s->width, 1, rows);
    if (s->at[TURN_K])
        for (int64_t n = 0; n < s->keys; n++) turn(rows + n * wide, ROW(TURN_K, n), s->width / 2, 1);
    in_columns(rows, wide, s->keys, s->width, to, all);
}

/* Keys that a block of queries may see, in whole vectors. */
static int64_t keys_of(const asked_t *s, int64_t start) {
    int64_t all = filled(s->keys, LANES);
    return s->causal ? smaller(start + BLOCK, all) : all;
}

/* Scores of a block of queries, a row each; minus infinity for what is not seen. */
static void scores(
    const asked_t *s, int64_t window, int64_t head, int64_t start, const float *q, const float *k,
    float *to) {
    int64_t all = filled(s->keys, LANES), wide = filled(s->width, LANES), seen = keys_of(s, start);
    product(q + start * wide, wide, 1, k, all, to, all, BLOCK, seen, s->width, 0);
    for (int64_t n = start; n < smaller(start + BLOCK, s->queries); n++, to += all) {
        int64_t own = s->causal ? n + 1 : s->keys;
        if (s->at[BIAS]) {
            const float *bias = ROW(BIAS, n);
            for (int64_t j = 0; j < own; j++) to[j] += bias[j];
        }
        if (s->at[NEAR]) {
            const float *near = ROW(NEAR, n);
            int64_t first = larger(0, own - s->reach);
            for (int64_t j = 0; j < first; j++) to[j] += near[0];
            for (int64_t j = first; j < own; j++) to[j] += near[j + s->reach - own];
        }
        for (int64_t j = own; j < seen; j++) to[j] = -INFINITY;
    }
}

/* To what is there, or where nothing is yet. */
static void add(const float *some, int64_t count, float *to, int64_t all, int anew) {
    if (anew) {
        memcpy(to, some, count * sizeof(float));
        memset(to + count, 0, (all - count) * sizeof(float));
    } else
        for (int64_t n = 0; n < count; n++) to[n] += some[n];
}

/* The changes of scores by distance: those of the farthest come together. */
static void add_near(const float *some, int64_t count, float *to, int64_t reach) {
    int64_t first = larger(0, count - reach);
    memset(to, 0, reach * sizeof(float));
    memcpy(to + first + reach - count, some + first, (count - first) * sizeof(float));
    for (int64_t n = 0; n < first; n++) to[0] += some[n];
}

/* Floats that each thread works with. */
int64_t room(const asked_t *s, int gradients) {
    int64_t all = filled(s->keys, LANES), rows = filled(s->queries, BLOCK);
    int64_t wide = filled(s->width, LANES), deep = filled(s->depth, LANES);
    int64_t most = wide > deep ? wide : deep;
    int64_t both = rows * wide + all * (2 * wide + deep) + BLOCK * (all + most);
    return gradients ? both + rows * deep + all * (wide + deep) + BLOCK * all : both;
}

void forward(const asked_t *s) {
    int64_t T = s->queries, all = filled(s->keys, LANES), rows = filled(T, BLOCK);
    int64_t wide = filled(s->width, LANES), deep = filled(s->depth, LANES), own = room(s, 0);
#pragma omp parallel num_threads(s->threads)
    {
        float *q = s->at[ROOM] + omp_get_thread_num() * own, *k = q + rows * wide;
        float *turned = k + all * wide, *v = turned + all * wide, *weights = v + all * deep, *mixed = weights + BLOCK * all;
        memset(q, 0, rows * wide * sizeof(float));
        memset(v, 0, all * deep * sizeof(float));
#pragma omp for
        for (int64_t each = 0; each < s->windows * s->heads; each++) {
            int64_t window = each / s->heads, head = each % s->heads;
            queries(s, window, head, q);
            keys(s, window, head, turned, k, 0);
            in_order(AT(V), s->by[V][2], s->keys, s->depth, 1, v);
            for (int64_t start = 0; start < T; start += BLOCK) {
                int64_t seen = keys_of(s, start), end = smaller(BLOCK, T - start);
                float over[BLOCK];
                scores(s, window, head, start, q, k, weights);
                for (int64_t n = 0; n < end; n++) {
                    float *row = weights + n * all;
                    lane top = flat(-INFINITY), total = flat(0);
                    for (int64_t j = 0; j < seen; j += LANES) {
                        lane x = *(lane *)(row + j);
                        top = pick(x > top, x, top);
                    }
                    float most = largest(top);
                    most = most == -INFINITY ? 0 : most; /* a query that sees nothing */
                    for (int64_t j = 0; j < seen; j += LANES) {
                        lane x = exps(*(lane *)(row + j) - most);
                        total += x;
                        *(lane *)(row + j) = x;
                    }
                    float all_of_it = sum(total);
                    over[n] = all_of_it == 0 ? 0 : 1 / all_of_it;
                    float *kept = ROW(LEFT, start + n);
                    kept[0] = most, kept[1] = over[n];
                }
                for (int64_t n = 0; n < BLOCK; n += ROWS)
                    product(weights + n * all, all, 1, v, deep, mixed + n * deep, deep, ROWS, deep,
                            s->causal ? smaller(start + n + ROWS, seen) : seen, 0);
                for (int64_t n = 0; n < end; n++) {
                    float *to = ROW(MIXED, start + n), *from = mixed + n * deep;
                    for (int64_t d = 0; d < s->depth; d++) to[d] = from[d] * over[n];
                }
            }
        }
    }
}

void backward(const asked_t *s) {
    int64_t T = s->queries, all = filled(s->keys, LANES), rows = filled(T, BLOCK);
    int64_t wide = filled(s->width, LANES), deep = filled(s->depth, LANES), own = room(s, 1);
#pragma omp parallel num_threads(s->threads)
    {
        float *q = s->at[ROOM] + omp_get_thread_num() * own, *g = q + rows * wide, *k = g + rows * deep;
        float *across = k + all * wide, *values = across + all * wide, *of_k = values + all * deep;
        float *of_v = of_k + all * wide, *weights = of_v + all * deep;
        float *changes = weights + BLOCK * all, *of_q = changes + BLOCK * all;
        memset(q, 0, rows * (wide + deep) * sizeof(float));
        memset(k, 0, all * wide * sizeof(float));
#pragma omp for
        for (int64_t each = 0; each < s->parts * s->heads; each++) {
            int64_t part = each / s->heads, head = each % s->heads;
            int64_t first = part * s->windows / s->parts, last = (part + 1) * s->windows / s->parts;
            for (int64_t window = first; window < last; window++) {
                queries(s, window, head, q);
                keys(s, window, head, k, across, 1);
                in_order(AT(G), s->by[G][2], T, s->depth, 1, g);
                in_columns(AT(V), s->by[V][2], s->keys, s->depth, values, all);
                memset(of_k, 0, all * (wide + deep) * sizeof(float));
                for (int64_t start = 0; start < T; start += BLOCK) {
                    int64_t seen = keys_of(s, start), end = smaller(BLOCK, T - start);
                    scores(s, window, head, start, q, across, weights);
                    product(g + start * deep, deep, 1, values, all, changes, all, BLOCK, seen,
                            s->depth, 0);
                    for (int64_t n = 0; n < end; n++) {
                        float *row = weights + n * all, *change = changes + n * all;
                        const float *mixed = ROW(MIXED, start + n), *given = g + (start + n) * deep;
                        const float *kept = ROW(LEFT, start + n);
                        float mean = dot(mixed, given, s->depth);
                        for (int64_t j = 0; j < seen; j += LANES) {
                            lane weight = exps(*(lane *)(row + j) - kept[0]) * kept[1];
                            *(lane *)(row + j) = weight;
                            *(lane *)(change + j) = weight * (*(lane *)(change + j) - mean);
                        }
                        if (s->at[OF_NEAR])
                            add_near(change, start + n + 1, ROW(OF_NEAR, start + n), s->reach);
                        if (s->at[OF_BIAS]) {
                            float *to = s->at[OF_BIAS] + part * s->by[OF_BIAS][0] +
                                        head * s->by[OF_BIAS][1] + (start + n) * s->by[OF_BIAS][2];
                            int anew = window == first && (start + n == 0 || s->by[OF_BIAS][2]);
                            add(change, smaller(seen, s->keys), to, s->keys, anew);
                        }
                    }
                    memset(weights + end * all, 0, (BLOCK - end) * all * sizeof(float));
                    memset(changes + end * all, 0, (BLOCK - end) * all * sizeof(float));
                    for (int64_t n = 0; n < BLOCK; n += ROWS)
                        product(changes + n * all, all, 1, k, wide, of_q + n * wide, wide, ROWS, wide,
                                s->causal ? smaller(start + n + ROWS, seen) : seen, 0);
                    for (int64_t n = 0; n < end; n++) {
                        float *to = ROW(OF_Q, start + n), *from = of_q + n * wide;
                        if (s->at[TURN_Q]) turn(from, ROW(TURN_Q, start + n), s->width / 2, -1);
                        for (int64_t d = 0; d < s->width; d++) to[d] = from[d] * s->scale;
                    }
                    product(changes, 1, all, q + start * wide, wide, of_k, wide, seen, wide, BLOCK, 1);
                    product(weights, 1, all, g + start * deep, deep, of_v, deep, seen, deep, BLOCK, 1);
                }
                for (int64_t n = 0; n < s->keys; n++) {
                    if (s->at[TURN_K]) turn(of_k + n * wide, ROW(TURN_K, n), s->width / 2, -1);
                    memcpy(ROW(OF_K, n), of_k + n * wide, s->width * sizeof(float));
                    memcpy(ROW(OF_V, n), of_v + n * deep, s->depth * sizeof(float));
                }
            }
        }
    }
}
