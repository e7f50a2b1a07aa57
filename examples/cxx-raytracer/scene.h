/*
 * A scene: things with a shape and a surface, lights, and a camera. Shapes and surfaces are classes with virtual functions, so that every
 * ray makes calls through tables of function pointers.
 */
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "vector.h"

/* What a ray meets. */
struct Hit {
  double distance;
  Vector normal; /* of length 1, outward */
};

class Shape {
 public:
  virtual ~Shape() = default;
  /* The first point of the ray farther than `least` and nearer than `most`. */
  virtual std::optional<Hit> meet(const Ray &ray, double least, double most) const = 0;
};

class Sphere final : public Shape {
 public:
  Sphere(Vector centre, double radius) : centre(centre), radius(radius) {}
  std::optional<Hit> meet(const Ray &ray, double least, double most) const override;

 private:
  Vector centre;
  double radius;
};

class Plane final : public Shape {
 public:
  Plane(Vector normal, double offset) : normal(unit(normal)), offset(offset) {}
  std::optional<Hit> meet(const Ray &ray, double least, double most) const override;

 private:
  Vector normal;
  double offset;
};

class Triangle final : public Shape {
 public:
  Triangle(Vector a, Vector b, Vector c) : a(a), ab(b - a), ac(c - a), normal(unit(cross(b - a, c - a))) {}
  std::optional<Hit> meet(const Ray &ray, double least, double most) const override;

 private:
  Vector a, ab, ac, normal;
};

/* How a surface answers light. */
struct Finish {
  Vector colour;
  double mirror = 0; /* the part that comes from the mirrored ray */
  double glass = 0;  /* the part that comes from the refracted ray */
  double shine = 0;  /* strength of the highlight */
};

class Surface {
 public:
  virtual ~Surface() = default;
  virtual Finish at(Vector point) const = 0;
};

class Uniform final : public Surface {
 public:
  explicit Uniform(Finish finish) : finish(finish) {}
  Finish at(Vector) const override { return finish; }

 private:
  Finish finish;
};

class Chequered final : public Surface {
 public:
  Chequered(Finish even, Finish odd, double width) : even(even), odd(odd), width(width) {}
  Finish at(Vector point) const override;

 private:
  Finish even, odd;
  double width;
};

struct Thing {
  std::unique_ptr<Shape> shape;
  std::shared_ptr<Surface> surface;
};
struct Light {
  Vector from, colour;
};

class Scene {
 public:
  /* The scene of this example: a pyramid of spheres of several surfaces over a chequered floor. */
  static Scene show(int layers);
  /* The light that comes in along a ray. */
  Vector trace(const Ray &ray, int depth) const;
  std::size_t size() const { return things.size(); }

 private:
  struct Nearest {
    Hit hit;
    const Thing *thing;
  };
  std::optional<Nearest> nearest(const Ray &ray) const;
  bool blocked(const Ray &ray, double distance) const;
  Vector sky(Vector along) const;

  std::vector<Thing> things;
  std::vector<Light> lights;
};
