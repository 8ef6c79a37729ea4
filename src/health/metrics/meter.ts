import type { Counter, Histogram, Observable } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { CATALOGUE, type Metric, type MetricName } from './catalogue.ts';

/** Well below the time after which Prometheus gives a scrape up (10 s by default). */
const COLLECT_PATIENCE_MS = 5_000;

/** Records the current value of a metric. */
type Observe = (name: MetricName, value: number, labels?: Labels) => void;

/** The metrics of one process. */
export type Meter = ReturnType<typeof createMeter>;

/** Makes the instruments of the catalogue. */
export function createMeter() {
  const reader = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({ readers: [reader] });
  const meter = provider.getMeter('lote');
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const observables = new Map<string, Observable>();
  const readers: ((observe: Observe) => void | Promise<void>)[] = [];
  for (const [name, metric] of Object.entries<Metric>(CATALOGUE)) {
    const { kind, help: description, isRead, buckets = [] } = metric;
    if (kind === 'gauge') observables.set(name, meter.createObservableGauge(name, { description }));
    else if (isRead === true) observables.set(name, meter.createObservableCounter(name, { description }));
    else if (kind === 'counter') counters.set(name, meter.createCounter(name, { description }));
    else {
      const advice = { explicitBucketBoundaries: [...buckets] };
      histograms.set(name, meter.createHistogram(name, { description, advice }));
    }
  }
  meter.addBatchObservableCallback(
    async (result) => {
      for (const read of readers)
        await read((name, value, labels) => {
          const target = observables.get(name);
          if (target !== undefined) result.observe(target, value, labels);
        });
    },
    [...observables.values()],
  );

  return {
    /** Adds to a counter. Adding 0 makes the counter visible, so that Prometheus sees its first event as a rise. */
    count: (name: MetricName, labels: Labels = {}, by = 1) => counters.get(name)?.add(by, labels),
    time: (name: MetricName, ms: number, labels: Labels = {}) => histograms.get(name)?.record(ms / 1_000, labels),
    /** Registers a function that observes values at each scrape; metrics without a value are not in the answer. */
    onScrape: (read: (observe: Observe) => void | Promise<void>) => void readers.push(read),
    async text(): Promise<string> {
      const { resourceMetrics } = await reader.collect({ timeoutMillis: COLLECT_PATIENCE_MS });
      return `${serializer.serialize(resourceMetrics)}\n`;
    },
    close: () => provider.shutdown(),
  };
}

type Labels = Readonly<Record<string, string>>;
