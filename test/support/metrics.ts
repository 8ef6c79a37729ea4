import { createServer } from 'node:http';
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listen } from './servers/own-port.ts';

const SAMPLE = /^(?<name>[a-z0-9_]+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<name>[a-z_]+)="(?<value>[^"]*)"/g;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics that a process serves at /metrics at one time. */
export interface Scrape {
  readonly text: string;
  /** Names of the metrics; a histogram has one name. */
  readonly names: ReadonlySet<string>;
  /** Returns the sum of the samples with this name and these labels; 0 if there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

export async function scrape(url: string): Promise<Scrape> {
  const text = await (await fetch(url)).text();
  const samples = text.split('\n').flatMap(sampleOf);
  return {
    text,
    names: new Set(samples.map(({ name }) => name.replace(/_(?:bucket|count|sum)$/, ''))),
    sum: (name, labels = {}) =>
      samples
        .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
        .reduce((sum, { value }) => sum + value, 0),
  };
}

function sampleOf(line: string): readonly Sample[] {
  const { name, labels = '', value } = SAMPLE.exec(line)?.groups ?? {};
  if (name === undefined) return [];
  const found = [...labels.matchAll(LABEL)].map(({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? '']);
  return [{ name, labels: Object.fromEntries(found) as Record<string, string>, value: Number(value) }];
}

/** The names of all metrics of Lote, Node and Temporal's SDK begin so. */
const NAME = /\b(?:lote|process|nodejs|temporal)_[a-z0-9_]+\b/g;
const PART = /_(?:bucket|count|sum)$/;

/** Returns the metrics in expressions of alerts or a dashboard; a histogram has one name. */
export function metricsNamed(text: string): readonly string[] {
  return [...new Set([...text.matchAll(NAME)].map(([name]) => name.replace(PART, '')))];
}

export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** Starts an OpenTelemetry collector that keeps path and body of each request. */
export async function startCollector() {
  const got: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push(`${request.url} ${Buffer.concat(chunks).toString('utf8')}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  return {
    endpoint: `http://127.0.0.1:${await listen(server)}`,
    got,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const run = promisify(execFile);

/** The path at which `CONTRIBUTING.md` tells developers to put promtool. */
const CACHED = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lote', 'promtool');

/** Finds Prometheus' checker on the path or in the cache; null if it is not there. */
export async function findPromtool(): Promise<string | null> {
  for (const command of ['promtool', CACHED]) {
    const found = await run(command, ['--version']).then(
      () => true,
      () => false,
    );
    if (found) return command;
  }
  return null;
}

/** Returns the output of promtool. Rejects with the output if promtool finds a mistake. */
export async function promtool(command: string, parameters: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(command, [...parameters]);
  return stdout + stderr;
}
