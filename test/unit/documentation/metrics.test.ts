import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CATALOGUE, type Metric } from '../../../src/health/metrics/catalogue.ts';
import { metricsNamed } from '../../support/metrics.ts';
import { pageText, tableAfter } from '../../support/lote/readme.ts';

const ALERTS = readFileSync(new URL('../../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8');
const DASHBOARD = readFileSync(new URL('../../../deploy/grafana/lote.json', import.meta.url), 'utf8');
const OF_LOTE = /^(?:lote|process|nodejs)_/;

interface Rule {
  readonly alert: string;
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

const rules = (parse(ALERTS) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap((one) => one.rules);

describe('the metrics of docs/deployment.md', () => {
  it('has each metric of the catalogue, with its type and its labels', () => {
    const rows = tableAfter(pageText('docs/deployment.md'), "### Lote's own");
    const written = rows.map(([name = '', kind = '', labels = '']) => `${name} ${kind} ${labels}`.replaceAll('`', ''));

    const known = Object.entries(CATALOGUE).map(
      ([name, { kind, labels }]: [string, Metric]) => `${name} ${kind} ${labels.join(', ')}`,
    );
    expect(written.toSorted()).toEqual(known.toSorted());
  });
});

describe('the alerts', () => {
  it('have each a section of docs/operating.md that says what to do, and no section is without its alert', () => {
    const [, alerts = ''] = pageText('docs/operating.md').split('\n## Alerts\n');
    const sections = (alerts.split('\n## ')[0] ?? '').split('\n### ').slice(1);
    const titles = sections.map((section) => section.split('\n')[0] ?? '');

    expect(titles.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    expect(sections.filter((section) => !/\*\*Do:\*\*|\| do \|/.test(section))).toEqual([]);
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/operating.md#${alert.toLowerCase()}`);
      expect(annotations.summary.length, alert).toBeGreaterThan(10);
    }
  });

  it('and the dashboard name only metrics that Lote or the SDK of Temporal has', () => {
    const named = [...metricsNamed(ALERTS), ...metricsNamed(DASHBOARD)];

    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => OF_LOTE.test(name) && !(name in CATALOGUE))).toEqual([]);
    expect(named.filter((name) => !OF_LOTE.test(name) && !name.startsWith('temporal_'))).toEqual([]);
  });
});
