import type { Check } from './check.ts';

/**
 * The checks as a person reads them: first what all applications have in common, then each of several applications, in
 * one line where nothing is to be done about it.
 */
export function inBrief(checks: readonly Check[]): readonly Check[] {
  const names = [...new Set(checks.flatMap(({ application }) => application ?? []))];
  return [
    ...checks.filter(({ application }) => application === undefined),
    ...names.flatMap((name) =>
      ofOne(
        name,
        checks.filter(({ application }) => application === name),
      ),
    ),
  ];
}

function ofOne(application: string, checks: readonly Check[]): readonly Check[] {
  if (checks.every(({ state, cure }) => state === 'ok' || (state === 'unknown' && cure === null)))
    return [{ name: application, state: 'ok', detail: `well, by ${checks.length} checks`, cure: null }];
  return checks.map((check) => ({ ...check, name: `${application}: ${check.name}` }));
}
