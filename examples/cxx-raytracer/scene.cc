#include "scene.h"

#include <utility>

namespace {
constexpr double NEAR = 1e-6, FAR = 1e9;

/* base^(2^doublings), without the C library's pow, whose last bits differ from one library to the next. */
double squared(double base, int doublings) {
  while (doublings-- > 0) base *= base;
  return base;
}
}  // namespace

std::optional<Hit> Sphere::meet(const Ray &ray, double least, double most) const {
  const Vector to = centre - ray.from;
  const double middle = dot(to, ray.along), square = middle * middle - dot(to, to) + radius * radius;
  if (square < 0) return std::nullopt;
  const double half = std::sqrt(square);
  double t = middle - half;
  if (t <= least) t = middle + half;
  if (t <= least || t >= most) return std::nullopt;
  return Hit{t, (1 / radius) * (ray.at(t) - centre)};
}

std::optional<Hit> Plane::meet(const Ray &ray, double least, double most) const {
  const double slope = dot(normal, ray.along);
  if (slope == 0) return std::nullopt;
  const double t = (offset - dot(normal, ray.from)) / slope;
  if (t <= least || t >= most) return std::nullopt;
  return Hit{t, normal};
}

/* After Möller and Trumbore. */
std::optional<Hit> Triangle::meet(const Ray &ray, double least, double most) const {
  const Vector p = cross(ray.along, ac);
  const double volume = dot(ab, p);
  if (volume > -1e-12 && volume < 1e-12) return std::nullopt;
  const Vector s = ray.from - a, q = cross(s, ab);
  const double u = dot(s, p) / volume, v = dot(ray.along, q) / volume;
  if (u < 0 || v < 0 || u + v > 1) return std::nullopt;
  const double t = dot(ac, q) / volume;
  if (t <= least || t >= most) return std::nullopt;
  return Hit{t, normal};
}

Finish Chequered::at(Vector point) const {
  const auto cell = [this](double x) { return static_cast<long long>(std::floor(x / width)); };
  return (cell(point.x) + cell(point.z)) % 2 == 0 ? even : odd;
}

Scene Scene::show(int layers) {
  Scene scene;
  const auto add = [&](std::unique_ptr<Shape> shape, const std::shared_ptr<Surface> &surface) { scene.things.push_back({std::move(shape), surface}); };
  const std::vector<std::shared_ptr<Surface>> surfaces = {
      std::make_shared<Uniform>(Finish{{0.9, 0.25, 0.2}, 0.15, 0, 0.6}),   std::make_shared<Uniform>(Finish{{0.95, 0.93, 0.88}, 0.75, 0, 0.9}),
      std::make_shared<Uniform>(Finish{{0.2, 0.45, 0.85}, 0.1, 0, 0.4}),   std::make_shared<Uniform>(Finish{{0.97, 0.98, 1.0}, 0.08, 0.85, 0.9}),
      std::make_shared<Uniform>(Finish{{0.95, 0.75, 0.25}, 0.35, 0, 0.7}),
  };
  std::size_t next = 0;
  for (int layer = 0; layer < layers; layer++) {
    const int side = layers - layer;
    for (int i = 0; i < side; i++)
      for (int j = 0; j < side; j++) add(std::make_unique<Sphere>(Vector{i - 0.5 * (side - 1), 0.5 + 0.7071 * layer, j - 0.5 * (side - 1)}, 0.5), surfaces[next++ % surfaces.size()]);
  }
  const auto floor = std::make_shared<Chequered>(Finish{{0.85, 0.85, 0.82}, 0.1}, Finish{{0.16, 0.18, 0.2}, 0.25}, 1);
  add(std::make_unique<Plane>(Vector{0, 1, 0}, 0), floor);
  const auto wall = std::make_shared<Uniform>(Finish{{0.6, 0.65, 0.7}, 0.5});
  const double w = layers + 1.5, h = 2.4;
  add(std::make_unique<Triangle>(Vector{-w, 0, w}, Vector{w, 0, w}, Vector{w, h, w}), wall);
  add(std::make_unique<Triangle>(Vector{-w, 0, w}, Vector{w, h, w}, Vector{-w, h, w}), wall);
  scene.lights = {{{6, 9, -7}, {0.8, 0.78, 0.72}}, {{-8, 6, -4}, {0.3, 0.33, 0.4}}};
  return scene;
}

std::optional<Scene::Nearest> Scene::nearest(const Ray &ray) const {
  std::optional<Nearest> best;
  for (const Thing &thing : things)
    if (const auto hit = thing.shape->meet(ray, NEAR, best ? best->hit.distance : FAR)) best = Nearest{*hit, &thing};
  return best;
}

bool Scene::blocked(const Ray &ray, double distance) const {
  for (const Thing &thing : things)
    if (thing.shape->meet(ray, NEAR, distance)) return true;
  return false;
}

Vector Scene::sky(Vector along) const {
  const double up = 0.5 * (along.y + 1);
  return (1 - up) * Vector{0.9, 0.92, 0.95} + up * Vector{0.35, 0.55, 0.85};
}

Vector Scene::trace(const Ray &ray, int depth) const {
  const auto met = nearest(ray);
  if (!met) return sky(ray.along);
  const Vector point = ray.at(met->hit.distance);
  const bool inside = dot(met->hit.normal, ray.along) > 0;
  const Vector normal = inside ? -1.0 * met->hit.normal : met->hit.normal;
  const Finish finish = met->thing->surface->at(point);

  Vector light = 0.12 * finish.colour;
  for (const Light &lamp : lights) {
    const Vector to = lamp.from - point;
    const double distance = length(to);
    const Ray towards{point, (1 / distance) * to};
    const double slope = dot(normal, towards.along);
    if (slope <= 0 || blocked(towards, distance)) continue;
    const Vector half = unit(towards.along - ray.along);
    light = light + (1 - finish.glass) * slope * (finish.colour * lamp.colour) + finish.shine * squared(dot(normal, half), 6) * lamp.colour;
  }
  if (depth == 0) return light;
  const double across = -dot(normal, ray.along);
  if (finish.mirror > 0) light = (1 - finish.mirror) * light + finish.mirror * trace({point, unit(ray.along + 2 * across * normal)}, depth - 1);
  if (finish.glass > 0) {
    const double ratio = inside ? 1.5 : 1 / 1.5, square = 1 - ratio * ratio * (1 - across * across);
    const Vector on = square < 0 ? ray.along + 2 * across * normal : ratio * ray.along + (ratio * across - std::sqrt(square)) * normal;
    light = (1 - finish.glass) * light + finish.glass * (finish.colour * trace({point, unit(on)}, depth - 1));
  }
  return light;
}
