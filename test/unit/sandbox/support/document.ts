import { readFileSync } from 'node:fs';
import { z } from 'zod';

const response = z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) });
const operation = z.looseObject({
  operationId: z.string(),
  requestBody: response.optional(),
  responses: z.record(z.string(), response),
  callbacks: z.unknown().optional(),
});
const documentSchema = z.looseObject({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.record(z.string(), z.unknown())),
    parameters: z.record(z.string(), z.unknown()),
  }),
});

export type SandboxDocument = z.output<typeof documentSchema>;

/** The published OpenAPI document of the sandbox. */
export function readDocument(): SandboxDocument {
  const file = new URL('../../../../docs/sandbox.openapi.json', import.meta.url);
  return documentSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** A schema of the document that can check values; references are looked up in its components. */
export function checkerOf(document: SandboxDocument, schema: unknown): z.ZodType {
  const moved: unknown = JSON.parse(
    JSON.stringify({ allOf: [schema], $defs: document.components.schemas }).replaceAll(
      '#/components/schemas/',
      '#/$defs/',
    ),
  );
  // A JSON Schema is a plain object; the compiler cannot know that it came from one.
  return z.fromJSONSchema(moved as Parameters<typeof z.fromJSONSchema>[0]);
}
