/*
 * Buffers of std::size_t in C++, also where one text serves several types. The values are those of a machine whose size_t is unsigned long.
 */
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>
#include "check.h"

template <class T> struct Type;
template <> struct Type<int> { static MPI_Datatype get() { return MPI_INT; } };
template <> struct Type<double> { static MPI_Datatype get() { return MPI_DOUBLE; } };
template <> struct Type<unsigned long> { static MPI_Datatype get() { return MPI_UNSIGNED_LONG; } };
template <> struct Type<std::size_t> { static MPI_Datatype get() { return MPI_UNSIGNED_LONG; } };

template <class T> T total(T mine) {
    T sum = T();
    MPI_Allreduce(&mine, &sum, 1, Type<T>::get(), MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
template <class T> void everywhere(std::vector<T> &v) {
    typename std::vector<T>::size_type n = v.size();
    MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    v.resize(n);
    MPI_Bcast(v.data(), static_cast<int>(n), Type<T>::get(), 0, MPI_COMM_WORLD);
}
class Counter {
public:
    std::map<int, std::vector<std::size_t>> counts;
    std::size_t before = 1, here = 0, after = 2;
    void exchange() {
        MPI_Exscan(MPI_IN_PLACE, static_cast<void *>(&here), 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &counts[3][0], static_cast<int>(counts[3].size()),
                      MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    }
};

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(total(rank_ + 1) == size_ * (size_ + 1) / 2);
    CHECK(total(0.5) == size_ * 0.5);
    CHECK(total(1ul << 40) == (1ul << 40) * size_);
    CHECK(total(std::size_t(rank_)) == std::size_t(size_ * (size_ - 1) / 2));
    std::vector<std::size_t> v;
    std::vector<unsigned long> w;
    if (rank_ == 0) v = {1, 2, 3}, w = {1ul << 50, 7};
    everywhere(v);
    everywhere(w);
    CHECK(v.size() == 3 && v[0] == 1 && v[2] == 3);
    CHECK(w.size() == 2 && w[0] == 1ul << 50 && w[1] == 7);
    Counter c;
    c.here = 10;
    c.counts[3] = {std::size_t(rank_), 5};
    c.exchange();
    CHECK(c.before == 1 && c.after == 2 && (rank_ == 0 || c.here == 10u * rank_));
    CHECK(c.counts[3][0] == std::size_t(size_ - 1) && c.counts[3][1] == 5);
    std::array<std::size_t, 2> mine = {std::size_t(rank_), 9};
    std::vector<std::size_t> all(2 * size_ + 1, 77);
    MPI_Allgather(mine.data(), 2, MPI_UNSIGNED_LONG, &all.front(), 2, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < size_; i++) CHECK(all[2 * i] == std::size_t(i) && all[2 * i + 1] == 9);
    CHECK(all.back() == 77);
    return finish();
}
