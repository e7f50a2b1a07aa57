/*
 * A ray tracer as master and workers. Rank 0 hands out tiles of the picture to whoever is free, takes the coloured tiles as they come
 * (ANY_SOURCE) and writes each to its place in picture.png, so that the picture grows while it is computed. Who computes what differs
 * from run to run; the picture does not.
 *
 *   --width 640 --height 480
 *   --tile 32        pixels along a side of a tile
 *   --samples 2      rays per pixel along a side of it
 *   --layers 4       of the pyramid of spheres
 *   --expect HASH    fails when the picture has another hash
 */
#include <mpi.h>

#include <cstring>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "../c-common/options.h"
#include "../c-common/progress.h"
#include "../c-common/png.h"
#include "camera.h"

namespace {

constexpr int WORK = 1, COLOURS = 2;
/* Instead of the number of a tile: there is no more. */
constexpr int DONE = -1;

/* The picture on the disk, and which tiles it has. */
class Picture {
 public:
  Picture(const Camera &camera, int width, int height, int band) : camera(camera), have(static_cast<std::size_t>(camera.tiles())), png(png_open("picture.png", width, height, band)) {
    if (!png) give_up("picture.png cannot be opened");
  }
  ~Picture() {
    if (png_close(png) != 0) give_up("picture.png cannot be closed");
  }
  Picture(const Picture &) = delete;
  Picture &operator=(const Picture &) = delete;

  void add(int number, const std::vector<std::uint8_t> &rgb) {
    const Tile t = camera.tile_at(number);
    have[static_cast<std::size_t>(number)]++;
    png_put(png, t.left, t.top, t.width, t.height, rgb.data());
    if (png_write_rows(png, t.top, t.height) != 0) give_up("picture.png cannot be written");
  }
  bool complete() const {
    return std::all_of(have.begin(), have.end(), [](int n) { return n == 1; });
  }
  std::uint64_t hash() const { return png_hash(png); }

 private:
  [[noreturn]] static void give_up(const char *why) {
    std::cerr << why << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 3);
    std::abort();
  }
  const Camera &camera;
  std::vector<int> have;
  Png *png;
};

/* What a worker sends: the number of the tile in front of its colours; no colours: it has just come. */
void send_tile(int number, const std::vector<std::uint8_t> &rgb) {
  std::vector<std::uint8_t> message(sizeof number + rgb.size());
  std::memcpy(message.data(), &number, sizeof number);
  std::copy(rgb.begin(), rgb.end(), message.begin() + sizeof number);
  MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, COLOURS, MPI_COMM_WORLD);
}

void work(const Scene &scene, const Camera &camera) {
  send_tile(DONE, {});
  for (;;) {
    int number;
    MPI_Recv(&number, 1, MPI_INT, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (number == DONE) return;
    send_tile(number, camera.render(scene, camera.tile_at(number)));
  }
}

void lead(const Scene &scene, const Camera &camera, int workers, Picture &picture) {
  int next = 0, busy = workers;
  if (workers == 0)
    for (; next < camera.tiles(); next++) picture.add(next, camera.render(scene, camera.tile_at(next)));
  while (busy > 0) {
    state_progress(next > busy ? next - busy : 0, camera.tiles());
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, COLOURS, MPI_COMM_WORLD, &status);
    int bytes;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<std::uint8_t> message(static_cast<std::size_t>(bytes));
    MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, COLOURS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int number;
    std::memcpy(&number, message.data(), sizeof number);
    const int more = next < camera.tiles() ? next++ : DONE;
    MPI_Send(&more, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
    if (more == DONE) busy--;
    if (number != DONE) picture.add(number, {message.begin() + sizeof number, message.end()});
  }
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto option = [&](const char *name, int otherwise, int least, int most) { return static_cast<int>(option_number(argc, argv, name, otherwise, least, most)); };
  const int width = option("width", 640, 1, 20000), height = option("height", 480, 1, 20000), tile = option("tile", 32, 1, 1024);
  const int samples = option("samples", 2, 1, 64), layers = option("layers", 4, 1, 20);

  const Scene scene = Scene::show(layers);
  const Camera camera(width, height, tile, samples, layers);
  int failed = 0;
  if (rank > 0) work(scene, camera);
  else {
    const double start = MPI_Wtime();
    Picture picture(camera, width, height, tile);
    lead(scene, camera, size - 1, picture);
    std::cerr << std::fixed << std::setprecision(3) << MPI_Wtime() - start << " s" << std::endl;
    /* The check: no tile is missing or came twice, and the picture is the same for any number of ranks. */
    std::ostringstream hash;
    hash << std::hex << std::setw(16) << std::setfill('0') << picture.hash();
    std::cout << scene.size() << " things, " << camera.tiles() << " tiles of " << width << " x " << height << " pixels\n";
    std::cout << "hash of the picture " << hash.str() << "\n";
    const std::string expected(option_text(argc, argv, "expect", ""));
    failed = !picture.complete() || !(expected.empty() || expected == hash.str());
    std::cout << (failed ? "FAIL" : "PASS") << ": " << (picture.complete() ? "every tile came once" : "tiles are missing") << (expected.empty() ? "" : expected == hash.str() ? ", the picture is the expected one" : ", the picture is another one")
              << std::endl;
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
