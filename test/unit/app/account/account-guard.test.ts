import { describe, expect, it } from 'vitest';
import {
  BUILT_IN_SANDBOX,
  confirmService,
  rememberService,
  requireKnownService,
  type AccountGuard,
} from '../../../../src/app/account/account-guard.ts';
import type { ServiceAccountRecord } from '../../../../src/ledger/sending/service-use.ts';

const ACCOUNT = { baseUrl: 'https://service.example', apiKey: 'sk_test_one' };

/** The statements of the ledger's contract that the interlock needs; the contract suite holds the real ones to them. */
function rememberingLedger(
  id = 'lgr_1',
): AccountGuard['ledger'] & { readonly known: Map<string, ServiceAccountRecord> } {
  const known = new Map<string, ServiceAccountRecord>();
  return {
    id,
    known,
    knownAccount(account) {
      const used = [...known.values()].find(
        (one) => one.baseUrl === account.baseUrl && one.keyFingerprint === account.keyFingerprint,
      );
      return Promise.resolve(known.get(account.application) ?? used ?? null);
    },
    async rememberAccount(account) {
      const before = await this.knownAccount(account);
      if (before === null) known.set(account.application, account);
      return before ?? account;
    },
    confirmAccount(account) {
      known.set(account.application, account);
      return Promise.resolve();
    },
  };
}

function lock(ledger: AccountGuard['ledger'], over: Partial<AccountGuard> = {}): AccountGuard {
  const own = { application: 'default', account: ACCOUNT };
  return { ledger, ...own, profile: { environment: null }, now: 1, ...over };
}

/** The interlock refuses, with these words. */
async function expectRefusal(asked: Promise<unknown>, words = /./u): Promise<void> {
  const message = expect.stringMatching(words) as unknown;
  await expect(asked).rejects.toMatchObject({ code: 'interlock', message });
}

describe('the interlock', () => {
  it('lets the account through that the ledger knows, with or without a slash at its end, and another one for another application', async () => {
    const ledger = rememberingLedger();
    await rememberService(lock(ledger));
    await rememberService(lock(ledger, { application: 'other', account: { ...ACCOUNT, apiKey: 'sk_test_two' } }));

    await requireKnownService(lock(ledger));
    await requireKnownService(lock(ledger, { account: { ...ACCOUNT, baseUrl: 'https://service.example/' } }));
  });

  it.each([
    ['another address', { baseUrl: 'https://live.example', apiKey: 'sk_test_one' }, /the address was .* and is/],
    ['another key', { baseUrl: 'https://service.example', apiKey: 'sk_test_two' }, /the API key is another one/],
  ])('refuses %s until it is confirmed, once', async (_what, account, message) => {
    const ledger = rememberingLedger();
    await rememberService(lock(ledger));
    const changed = lock(ledger, { account });

    await expectRefusal(requireKnownService(changed), message);
    await expectRefusal(requireKnownService(changed), /lote confirm-service/u);
    await confirmService(changed);
    await requireKnownService(changed);
    await expectRefusal(requireKnownService(lock(ledger)));
  });

  it('never takes the built-in sandbox for a real account, and cannot be confirmed as one: variables are missing', async () => {
    const ledger = rememberingLedger();
    await rememberService(lock(ledger));
    const missing = lock(ledger, { account: null });

    for (const ask of [requireKnownService, rememberService, confirmService])
      await expectRefusal(ask(missing), /uses https:\/\/service\.example, but INVOICING_BASE_URL is not set/u);
    await expect(requireKnownService(missing)).rejects.not.toThrow('confirm-service');
    await requireKnownService(lock(ledger));
  });

  it('remembers nothing of an account that was only looked at: the corrected one is let through', async () => {
    const ledger = rememberingLedger();
    const mistyped = lock(ledger, { account: { ...ACCOUNT, baseUrl: 'https://servcie.example' } });

    await requireKnownService(mistyped);
    await requireKnownService(lock(ledger));
    expect(ledger.known.size).toBe(0);
    await rememberService(lock(ledger));

    await requireKnownService(lock(ledger));
    await expectRefusal(requireKnownService(mistyped));
    await expectRefusal(rememberService(mistyped));
  });

  it('refuses one account for a second application, which would issue the same invoices again, until it is confirmed', async () => {
    const ledger = rememberingLedger();
    await rememberService(lock(ledger));
    const mistyped = lock(ledger, { application: 'defautl' });

    await expectRefusal(
      requireKnownService(mistyped),
      /for application "default".*Set LOTE_APPLICATION=default\..*lote confirm-service/u,
    );
    expect([...ledger.known.keys()]).toEqual(['default']);
    await confirmService(mistyped);
    await requireKnownService(mistyped);
    await requireKnownService(lock(ledger));
  });

  it('lets every application play in the built-in sandbox, on whatever port that listens', async () => {
    const ledger = rememberingLedger();
    await rememberService(lock(ledger, { account: null }));

    expect(ledger.known.get('default')?.baseUrl).toBe(BUILT_IN_SANDBOX);
    await requireKnownService(lock(ledger, { application: 'second', account: null }));
    await requireKnownService(lock(ledger, { application: 'second', account: null }));
  });

  it('never keeps or tells the key, and two ledgers keep the same key differently', async () => {
    const one = rememberingLedger('lgr_1');
    const two = rememberingLedger('lgr_2');
    await rememberService(lock(one));
    await rememberService(lock(two));
    const error = await requireKnownService(lock(one, { account: { ...ACCOUNT, apiKey: 'sk_test_two' } })).catch(
      String,
    );

    expect(JSON.stringify([...one.known.values()])).not.toContain('sk_test');
    expect(one.known.get('default')?.keyFingerprint).not.toBe(two.known.get('default')?.keyFingerprint);
    expect(error).not.toContain('sk_test_two');
  });

  it.each([
    ['sk_test_one', 'live'],
    ['sk_live_one', 'test'],
  ] as const)('refuses %s at an address marked %s, and remembers nothing', async (apiKey, environment) => {
    const ledger = rememberingLedger();
    const wrong = lock(ledger, { account: { ...ACCOUNT, apiKey }, profile: { environment } });

    await expectRefusal(requireKnownService(wrong));
    await expectRefusal(confirmService(wrong));
    expect(ledger.known.size).toBe(0);
  });
});
