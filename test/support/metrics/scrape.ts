const SAMPLE = /^(?<name>[a-z0-9_]+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<name>[a-z_]+)="(?<value>[^"]*)"/g;

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a process serves at /metrics at one moment. */
export interface Scrape {
  readonly text: string;
  /** Names of the metrics, histograms by the name of the whole. */
  readonly names: ReadonlySet<string>;
  /** The sum of the samples of this name that have these labels; 0: there is none. */
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
