/* The picture as tiles, and the colours of a tile's pixels. */
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scene.h"

struct Tile {
  int left, top, width, height;
  std::size_t bytes() const { return 3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

class Camera {
 public:
  Camera(int width, int height, int tile, int samples, int layers)
      : width(width), height(height), tile(tile), samples(samples), from{-0.7 * layers, 0.8 * layers, -1.75 * layers}, forward(unit(Vector{0, 0.3 * layers, 0} - from)),
        right(unit(cross({0, 1, 0}, forward))), up(cross(forward, right)) {}

  int tiles() const { return across() * ((height + tile - 1) / tile); }
  Tile tile_at(int number) const {
    const int left = number % across() * tile, top = number / across() * tile;
    return {left, top, std::min(tile, width - left), std::min(tile, height - top)};
  }
  /* Red, green and blue of its pixels, row by row; each is the mean of samples × samples rays. */
  std::vector<std::uint8_t> render(const Scene &scene, Tile t) const {
    std::vector<std::uint8_t> rgb;
    rgb.reserve(t.bytes());
    for (int y = t.top; y < t.top + t.height; y++)
      for (int x = t.left; x < t.left + t.width; x++) {
        Vector light;
        for (int s = 0; s < samples * samples; s++) {
          const double u = x + (s % samples + 0.5) / samples - 0.5 * width, v = y + (s / samples + 0.5) / samples - 0.5 * height;
          const Vector along = forward + (u / height) * right - (v / height) * up;
          light = light + scene.trace({from, unit(along)}, 5);
        }
        for (const double c : {light.x, light.y, light.z}) {
          /* A display squares what it is given, more or less. */
          const double shown = 255 * std::sqrt(std::clamp(c / (samples * samples), 0.0, 1.0));
          rgb.push_back(static_cast<std::uint8_t>(shown + 0.5));
        }
      }
    return rgb;
  }

 private:
  int across() const { return (width + tile - 1) / tile; }

  int width, height, tile, samples;
  Vector from, forward, right, up;
};
