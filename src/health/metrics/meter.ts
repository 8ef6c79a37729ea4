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
  const bounds = new Map<string, (labels: Labels) => Labels>();
  const readers: ((observe: Observe) => void | Promise<void>)[] = [];
  for (const [name, metric] of Object.entries<Metric>(CATALOGUE)) {
    const { kind, help: description, labels, isRead, buckets = [] } = metric;
    bounds.set(name, createLabelBounds(labels));
    if (kind === 'gauge') observables.set(name, meter.createObservableGauge(name, { description }));
    else if (isRead === true) observables.set(name, meter.createObservableCounter(name, { description }));
    else if (kind === 'counter') counters.set(name, meter.createCounter(name, { description }));
    else {
      const advice = { explicitBucketBoundaries: [...buckets] };
      histograms.set(name, meter.createHistogram(name, { description, advice }));
    }
  }
  const bounded = (name: MetricName, labels: Labels): Labels => bounds.get(name)?.(labels) ?? {};
  meter.addBatchObservableCallback(
    async (result) => {
      for (const read of readers)
        await read((name, value, labels = {}) => {
          const target = observables.get(name);
          if (target !== undefined) result.observe(target, value, bounded(name, labels));
        });
    },
    [...observables.values()],
  );

  return {
    /** Adds to a counter. Adding 0 makes the counter visible, so that Prometheus sees its first event as a rise. */
    count: (name: MetricName, labels: Labels = {}, by = 1) => counters.get(name)?.add(by, bounded(name, labels)),
    time: (name: MetricName, ms: number, labels: Labels = {}) =>
      histograms.get(name)?.record(ms / 1_000, bounded(name, labels)),
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

/** Replaces a label value that the catalogue does not allow. */
const OTHER = 'other';

/** Limits the labels of one metric to their declaration, so that they contain no data and their number is bounded. */
function createLabelBounds(declared: Metric['labels']): (labels: Labels) => Labels {
  const allowed = Object.entries(declared).map(([name, values]) => ({
    name,
    values: new Set(typeof values === 'number' ? [] : values),
    most: typeof values === 'number' ? values : 0,
  }));
  return (labels) => {
    const bounded: Record<string, string> = {};
    for (const { name, values, most } of allowed) {
      const value = labels[name] ?? OTHER;
      if (!values.has(value) && values.size < most) values.add(value);
      bounded[name] = values.has(value) ? value : OTHER;
    }
    return bounded;
  };
}
