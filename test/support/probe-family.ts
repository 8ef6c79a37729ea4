import { randomUUID } from 'node:crypto';
import { checkProfile } from '../../src/service-profile/check-profile.ts';
import { madeUpNif, type ProbeSubject } from '../../src/wiring/probe/probe-subject.ts';
import { runProbe, type ProbeResult } from '../../src/wiring/probe/run-probe.ts';
import { startTemporaryReceiver } from '../../src/wiring/probe/temporary-receiver.ts';
import type { Family } from '../services/fake/family.ts';
import { startFake, type FakeService } from '../services/fake/fake-service.ts';
import { FAILING_TAX_CODE } from '../services/fake/operations.ts';

/** NIFs of merchants that the probed service has before. */
const EXISTING = ['501964843', '502011378'];

/** What an operator must say beforehand: how requests are written, and what no answer shows. */
function baseOf({ profile, events, registersByHand, secretInAddress }: Family): Record<string, unknown> {
  const { requests } = profile as { readonly requests?: unknown };
  return {
    ...(requests !== undefined && { requests }),
    ...((events === null || registersByHand) && { webhook: { register: false } }),
    ...(secretInAddress === true && { signature: { kind: 'basic' } }),
  };
}

/** A probe of a service of a family, with what the test may look at afterwards. */
export interface FamilyProbe {
  readonly result: ProbeResult;
  readonly subject: ProbeSubject;
  readonly fake: FakeService;
  /** What a proposal, a table and a log must not hold. */
  readonly secrets: readonly string[];
}

/** Starts the fake service of a family and probes it, knowing nothing of it but its requests. */
export async function probeFamily(
  family: Family,
  over: { readonly failing?: boolean; readonly base?: Readonly<Record<string, unknown>> } = {},
): Promise<FamilyProbe> {
  const fake = await startFake({ family, existing: EXISTING });
  const receiver = await startTemporaryReceiver(0);
  try {
    const own = family.secretInAddress === true ? (family.events?.newSecret() ?? '') : null;
    const secret = family.registersByHand ? fake.registerByHand(receiver.url) : own;
    const document = { ...baseOf(family), ...over.base };
    const { profile, mistakes } = checkProfile(JSON.stringify(document));
    if (profile === null) throw new Error(`The base of ${family.name} has mistakes: ${JSON.stringify(mistakes)}`);
    const subject: ProbeSubject = {
      ...{ nif: madeUpNif(), legalName: 'Sonda Secreta', email: 'sonda@secreta.example', currency: 'EUR' },
      ...{ taxCode: 'IVA_23', failingTaxCode: over.failing === false ? null : FAILING_TAX_CODE, run: randomUUID() },
    };
    const result = await runProbe({
      account: { baseUrl: fake.url, apiKey: fake.key },
      application: 'probe',
      base: { document, profile },
      subject,
      receiver: family.events === null ? null : { ...receiver, secrets: secret === null ? [] : [secret] },
      waitMs: 5_000,
      say: () => undefined,
    });
    const secrets = [fake.key, ...fake.deliveries.endpoints.map((one) => one.secret)];
    return { result, subject, fake, secrets };
  } finally {
    await receiver.close();
    await fake.close();
  }
}
