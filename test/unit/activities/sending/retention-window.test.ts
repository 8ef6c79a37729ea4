import { describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { RetentionWindow } from '../../../../activities/sending/retention-window.ts';
import type { DeparturePermit } from '../../../../src/domain/records/service-answers.ts';

const HOUR = 3_600_000;
const FROM = Date.UTC(2026, 10, 23);

/** A window of so many hours, and the clock that it reads. */
function windowOf(hours: number): { readonly window: RetentionWindow; readonly clock: { now: number } } {
  const clock = { now: FROM };
  const settings = { retry: { retentionMs: hours * HOUR } } as ActivityDeps['settings'];
  return { window: new RetentionWindow({ settings, latestNow: () => clock.now }), clock };
}

/** A permit of the batch, which says what the test wants. */
function permitSaying(says: { valid: boolean }): DeparturePermit {
  return {
    withdrawn: new AbortController().signal,
    isValid: () => says.valid,
    confirm: () => Promise.resolve(says.valid),
  };
}

describe('the retention window', () => {
  it.each([
    [24, 'more than 24 h ago'],
    [1.5, 'more than 1.5 h ago'],
    [1 / 3, 'more than 0.33 h ago'],
  ])('of %d hours is told in hours', (hours, said) => {
    expect(windowOf(hours).window.outcomeOf(FROM).reason.message).toContain(said);
  });

  it('is over where a clock that ran ahead wrote down when it began, and does not name that time', async () => {
    const { window } = windowOf(24);
    const [near, ahead] = [FROM + 60_000, FROM + 5 * HOUR];
    const permit = window.permit(ahead, permitSaying({ valid: true }));

    expect([window.isOver(near), window.isOver(ahead)]).toEqual([false, true]);
    expect([permit.isValid(), await permit.confirm()]).toEqual([false, false]);
    expect(window.outcomeOf(ahead).reason.message).toMatch(/^A clock that ran ahead wrote down when its first POST/u);
  });

  it('gives the permit of the batch on for as long as it is open', async () => {
    const { window, clock } = windowOf(24);
    const says = { valid: true };
    const permit = window.permit(FROM, permitSaying(says));

    clock.now = FROM + 24 * HOUR - 1;
    expect([permit.isValid(), await permit.confirm()]).toEqual([true, true]);
    says.valid = false;
    expect([permit.isValid(), await permit.confirm()]).toEqual([false, false]);
    says.valid = true;
    clock.now += 1;
    expect([permit.isValid(), await permit.confirm()]).toEqual([false, false]);
  });

  it('confirms nothing that was confirmed only after it was over', async () => {
    const { window, clock } = windowOf(24);
    const slow = { ...permitSaying({ valid: true }) };
    const permit = window.permit(FROM, {
      ...slow,
      confirm: () => {
        clock.now += 24 * HOUR;
        return Promise.resolve(true);
      },
    });

    expect(await permit.confirm()).toBe(false);
  });

  it('lets what never may have arrived leave at any time', async () => {
    const { window, clock } = windowOf(24);
    clock.now += 100 * HOUR;
    const permit = window.permit(null, permitSaying({ valid: true }));

    expect([window.isOver(null), permit.isValid(), await permit.confirm()]).toEqual([false, true, true]);
  });
});
