import { isFinding, type Finding, type Missing } from '../../service-profile/recognise/finding.ts';
import type { ProbeResult } from '../../wiring/probe/run-probe.ts';

const LONGEST_VALUE = 60;
const LONGEST_KEY = 30;

/** What `lote profile probe` says to a person: what was recognised, what was not, and what Lote makes of it. */
export function probedText({ recognised, readBack, complete, requests }: ProbeResult): string {
  const found = recognised.filter(isFinding);
  const missed = recognised.filter((one): one is Missing => !isFinding(one));
  return [
    `Recognised: ${found.length} settings, by ${requests} requests`,
    ...foundLines(found),
    ...(missed.length === 0 ? [] : ['', `Not recognised: ${missed.length}`]),
    ...missed.map(({ key, reason }) => `  ${key.padEnd(LONGEST_KEY)}  ${reason}`),
    '',
    'Read back with the proposal:',
    ...readBack.map(({ what, said, right }) => `  ${right ? 'yes' : 'NO '}  ${what}: ${said}`),
    '',
    complete
      ? 'Lote understands the service with the proposal. Read it once, then set SERVICE_PROFILE to its file.'
      : 'The proposal is not complete: look at each NO, write what is missing (docs/service-profile.md), and probe again from that file.',
    '',
  ].join('\n');
}

function foundLines(found: readonly Finding[]): readonly string[] {
  return found.flatMap(({ key, value, evidence, certainty }, index) => {
    const before = found[index - 1];
    const line = `  ${key.padEnd(LONGEST_KEY)}  ${shown(value)}`;
    const why = certainty === 'seen' ? evidence : `${certainty}: ${evidence}`;
    // One scheme shows ten settings.
    const repeats =
      before !== undefined && before.evidence === evidence && before.key.split('.')[0] === key.split('.')[0];
    return repeats ? [line] : [line, `  ${''.padEnd(LONGEST_KEY)}    ${why}`];
  });
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
