import type { Counter, Histogram, Observable } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { CATALOGUE, type Metric, type MetricName } from './catalogue.ts';
import { createLabelBounds, type Labels } from './label-bounds.ts';

/** A scrape that takes longer is given up by Prometheus (10 s by default). */
const COLLECT_PATIENCE_MS = 5_000;

/** Puts down the value of a metric at this moment. */
export type Observe = (name: MetricName, value: number, labels?: Labels) => void;

/** The metrics of one process. */
export interface Meter {
  /** Adds to a counter; by 0: it is served from now on, so that its first event is seen as a rise. */
  count(name: MetricName, labels?: Labels, by?: number): void;
  /** Puts a duration into a histogram of seconds. */
  time(name: MetricName, ms: number, labels?: Labels): void;
  /** Asked at each scrape for the values of these metrics; what is not observed is left out of the answer. */
  onScrape(names: readonly MetricName[], read: (observe: Observe) => void | Promise<void>): void;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
  close(): Promise<void>;
}

/** Makes the instruments of the catalogue. */
export function createMeter(): Meter {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [reader] });
  const meter = provider.getMeter('lote');
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const counters = new Map<MetricName, Counter>();
  const histograms = new Map<MetricName, Histogram>();
  const bounds = new Map(
    (Object.entries(CATALOGUE) as [MetricName, Metric][]).map(([name, { labels }]) => [
      name,
      createLabelBounds(labels),
    ]),
  );
  const observables = new Map<MetricName, Observable>();

  /** The files of the applications bound the names of those; with one application nobody gives a name. */
  function bounded(name: MetricName, { application, ...labels }: Labels): Labels {
    const { isPerApplication = false }: Metric = CATALOGUE[name];
    return {
      ...bounds.get(name)?.(labels),
      ...(isPerApplication && application !== undefined && { application }),
    };
  }

  function observable(name: MetricName): Observable {
    const { kind, help: description }: Metric = CATALOGUE[name];
    return kind === 'counter'
      ? meter.createObservableCounter(name, { description })
      : meter.createObservableGauge(name, { description });
  }

  return {
    count(name, labels = {}, by = 1) {
      const counter = known(counters, name, () => meter.createCounter(name, { description: CATALOGUE[name].help }));
      counter.add(by, bounded(name, labels));
    },
    time(name, ms, labels = {}) {
      const histogram = known(histograms, name, () => {
        const { help: description, buckets = [] }: Metric = CATALOGUE[name];
        return meter.createHistogram(name, { description, advice: { explicitBucketBoundaries: [...buckets] } });
      });
      histogram.record(ms / 1_000, bounded(name, labels));
    },
    onScrape(names, read) {
      const own = new Map(names.map((name) => [name, known(observables, name, () => observable(name))]));
      meter.addBatchObservableCallback(
        async (result) =>
          await read((name, value, labels = {}) => {
            const target = own.get(name);
            if (target !== undefined) result.observe(target, value, bounded(name, labels));
          }),
        [...own.values()],
      );
    },
    async text() {
      const { resourceMetrics } = await reader.collect({ timeoutMillis: COLLECT_PATIENCE_MS });
      return `${serializer.serialize(resourceMetrics)}\n`;
    },
    close: () => provider.shutdown(),
  };
}

function known<Instrument>(
  instruments: Map<MetricName, Instrument>,
  name: MetricName,
  create: () => Instrument,
): Instrument {
  const found = instruments.get(name) ?? create();
  instruments.set(name, found);
  return found;
}
