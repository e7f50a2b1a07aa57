/**
 * /openapi.json: every route described, with codes and examples that fit their schemas; the typed client is what is
 * generated from it.
 */
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { Compile } from 'typebox/compile';
import { NAMED, type OpenApi } from '../src/rest/openapi.ts';
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
      expect(String(o['description']).length, `${name}: a row in rest/described`).toBeGreaterThan(60);
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

  it('names the schemas of the wire', () => {
    const paths = JSON.stringify(document.paths);
    for (const name of Object.keys(NAMED)) expect(paths, name).toContain(`"#/components/schemas/${name}"`);
  });

  it('is what the typed client was generated from (npx vitest run apps/server/test/openapi.test.ts -u)', async () => {
    const fromWire = (name: string): ts.TypeNode =>
      ts.factory.createImportTypeNode(
        ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral('@mayfly/wire')),
        undefined,
        ts.factory.createIdentifier(name),
      );
    const nodes = await openapiTS(document as never, {
      // One type per thing: what the wire names is not written down twice.
      transform: (_schema, { path }) => {
        const name = /^#\/components\/schemas\/(\w+)$/.exec(path ?? '')?.[1];
        return name === undefined ? undefined : (fromWire(name) as never);
      },
    });
    await expect(
      `/** Generated from /openapi.json; do not edit (apps/server/test/openapi.test.ts). */\n/* ` +
        `eslint-disable */\n${astToString(nodes)}`,
    ).toMatchFileSnapshot('../../../packages/client/src/rest.ts');
  });
});
