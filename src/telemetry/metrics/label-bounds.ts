import type { Metric } from './catalogue.ts';

/** Labels of one measurement. */
export type Labels = Readonly<Record<string, string>>;

/** What stands for a value that the catalogue does not allow. */
const OTHER = 'other';

/**
 * Keeps the labels of one metric within its declaration, so that no data can get into them and their number is bounded.
 */
export function createLabelBounds(declared: Metric['labels']): (labels: Labels) => Labels {
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
