import { describe, expect, it } from 'vitest';
import { fine, trouble, unknown, type Check } from '../../../../src/wiring/doctor/check.ts';
import { inBrief } from '../../../../src/wiring/doctor/in-brief.ts';

function of(application: string, ...checks: readonly Check[]): readonly Check[] {
  return checks.map((check) => ({ ...check, application }));
}

describe('the checks of several applications, in brief', () => {
  it('have one line for each application about which nothing is to be done, behind what all have in common', () => {
    const checks = [
      ...of('anna', fine('service', 'answers'), unknown('webhook secret', 'The service gives it.')),
      fine('ledger', 'answers'),
    ];

    expect(inBrief(checks).map(({ name, state, detail }) => [name, state, detail])).toEqual([
      ['ledger', 'ok', 'answers'],
      ['anna', 'ok', 'well, by 2 checks'],
    ]);
  });

  it.each([
    ['trouble', trouble('service', 'The key is refused.', 'Set the key.')],
    ['something to do', unknown('receiver', 'Lote asks by GET.', 'Set WEBHOOK_URL.')],
  ])('name every check of one that has %s', (_, check) => {
    const names = inBrief(of('anna', fine('nights', 'off'), check)).map(({ name }) => name);

    expect(names).toEqual(['anna: nights', `anna: ${check.name}`]);
  });

  it('are as they were where there is one application', () => {
    const checks = [fine('ledger', 'answers'), fine('nights', 'off')];

    expect(inBrief(checks)).toEqual(checks);
  });
});
