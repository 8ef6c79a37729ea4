import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Healthcheck = z.strictObject({
  test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], z.string()),
  interval: z.string(),
  timeout: z.string(),
  retries: z.number().int().positive(),
  start_period: z.string(),
});

const CONDITIONS = ['service_started', 'service_healthy', 'service_completed_successfully'] as const;

/** Only the keys that are used here: a misspelt one fails, where a full schema would need a package. */
const Service = z.strictObject({
  image: z.string(),
  build: z.string().optional(),
  user: z.string().optional(),
  init: z.boolean().optional(),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  network_mode: z.string().optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.enum(CONDITIONS) })).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  secrets: z.array(z.string()).optional(),
  healthcheck: Healthcheck.optional(),
});

export const ComposeFile = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), Service),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});
export type ComposeFile = z.infer<typeof ComposeFile>;
export type ComposeService = z.infer<typeof Service>;

/** `${NAME:-default}` and `${NAME:?message}` as an operator's values fill them. */
export function filledIn(text: string, operator: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const value = operator[name];
    if (value !== undefined) return value;
    if (kind === '-') return rest;
    throw new Error(`docker-compose.yml: the operator must set ${name}: ${rest}`);
  });
}

/** The compose file with its anchors merged and its `x-` parts left out. */
export function readComposeFile(text: string = readFileSync('docker-compose.yml', 'utf8')): unknown {
  const document = parse(text, { merge: true }) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith('x-')));
}
