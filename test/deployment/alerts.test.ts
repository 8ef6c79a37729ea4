import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findPromtool, promtool } from '../support/metrics.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));
const command = await findPromtool();
if (command === null)
  process.stderr.write('promtool is not here: the alerts are not checked by it. CONTRIBUTING.md says how to get it.\n');

describe.skipIf(command === null)('the alerts, by promtool', () => {
  it('are rules of Prometheus', async () => {
    expect(await promtool(command ?? '', ['check', 'rules', `${FOLDER}alerts.yaml`])).toContain('SUCCESS');
  });

  it('fire when they should, and only then', async () => {
    expect(await promtool(command ?? '', ['test', 'rules', `${FOLDER}alerts.test.yaml`])).toContain('SUCCESS');
  });
});
