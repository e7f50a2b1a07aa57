/** /openapi.json: every route described, with codes and examples that fit their schemas. */
import { routes } from '@mayfly/rest';
import * as wire from '@mayfly/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { Compile } from 'typebox/compile';
import type { OpenApi } from '../src/rest/openapi.ts';
import { sharedServer } from './harness.ts';

let document: OpenApi;
beforeAll(async () => {
  const server = await sharedServer();
  document = (await server.inject({ url: '/openapi.json' })).json() as OpenApi;
});

interface Media {
  schema?: object;
  example?: unknown;
}
const operations = (): [string, OpenApi['paths'][string][string]][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([m, o]): [string, typeof o] => [`${m} ${path}`, o]),
  );

/** References are resolved for the check of an example. */
function whole(schema: unknown): object {
  const text = JSON.stringify(schema, (_key, value: unknown) => {
    const ref = (value as { $ref?: string } | null)?.$ref;
    return ref === undefined
      ? value
      : whole((document.components['schemas'] as Record<string, object>)[ref.split('/').at(-1)!]);
  });
  return JSON.parse(text) as object;
}

describe('/openapi.json', () => {
  it('describes every route in words, its parameters, its refusals with their codes, and gives examples that fit', () => {
    const ids = new Set<unknown>();
    for (const [name, o] of operations()) {
      expect(o.summary, name).toBeTruthy();
      expect(String(o['description']).length, `${name}: the description in its row`).toBeGreaterThan(60);
      expect(ids.has(o['operationId']), name).toBe(false);
      ids.add(o['operationId']);
      for (const p of o.parameters ?? []) expect(p.description, `${name}: ${p.name}`).toBeTruthy();
      for (const [status, r] of Object.entries(o.responses)) {
        expect(r.description, `${name} ${status}`).toBeTruthy();
        if (Number(status) >= 400) expect(r.description, `${name} ${status}`).toMatch(/^[A-Z_]{5,}: /);
      }
      const answers = Object.entries(o.responses).flatMap(([status, r]) =>
        Object.entries(r.content ?? {}).map(([type, media]): [string, string, Media] => [status, type, media as Media]),
      );
      const asked = Object.entries(o.requestBody?.content ?? {}).map(([type, media]): [string, string, Media] => [
        'request',
        type,
        media as Media,
      ]);
      expect(
        answers.some(([status]) => status.startsWith('2')),
        `${name}: what it answers`,
      ).toBe(true);
      for (const [what, type, media] of [...answers, ...asked]) {
        if (type !== 'application/json') continue;
        expect(media.example, `${name} ${what}: an example`).toBeDefined();
        if (media.schema === undefined) continue;
        expect([...Compile(whole(media.schema) as never).Errors(media.example)], `${name} ${what}`).toEqual([]);
      }
    }
  });

  it('names every object of the wire that a route asks for or answers, and no others', () => {
    const schemas = document.components['schemas'] as Record<string, object>;
    const everything = JSON.stringify([document.paths, schemas]);
    for (const name of Object.keys(schemas)) expect(everything).toContain(`"#/components/schemas/${name}"`);
    const objects = Object.entries(wire).filter(([, value]) => (value as { type?: unknown }).type === 'object');
    const asked = new Set(
      Object.values(routes).flatMap(({ schema }) => [schema.body, ...Object.values(schema.response ?? {})]),
    );
    const used = objects.filter(([, schema]) => asked.has(schema as never)).map(([name]) => name);
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(used));
  });
});
