import type { Family } from '../services/fake/family.ts';
import { startFake, type FakeService } from '../services/fake/fake-service.ts';
import type { Faults } from '../services/fake/faults.ts';
import { withStack, type TestStack } from './lote/stack.ts';
import { ownPort } from './servers/own-port.ts';

/** Everything that goes wrong at once; each share is small enough that most invoices meet none of it. */
const ALL_FAULTS: Faults = {
  lostAnswers: 0.08,
  lostMerchantAnswers: 1,
  tooFast: 0.015,
  trouble: 0.03,
  earlyEvents: 0.1,
  repeatedEvents: 0.15,
  droppedEvents: 0.07,
};

/** Where the receiver of the stack takes deliveries. */
const WEBHOOK_PATH = '/webhooks';

/** Starts the fake service of a family, and Lote with nothing but the family's profile between them. */
export async function withFamily(
  family: Family,
  options: {
    readonly existing: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Left out: everything that can go wrong. */
    readonly faults?: Partial<Faults>;
  },
  test: (stack: TestStack, fake: FakeService) => Promise<void>,
): Promise<void> {
  const fake = await startFake({ family, faults: options.faults ?? ALL_FAULTS, existing: options.existing });
  try {
    const receiverPort = await ownPort();
    const url = `http://127.0.0.1:${receiverPort}${WEBHOOK_PATH}`;
    const env: Record<string, string> = {
      ...options.env,
      // Dropped events are made good by GET, some seconds after the POST.
      LOTE_SETTLE_TIMEOUT: '90s',
      ...(family.events !== null && { WEBHOOK_URL: url }),
      ...(family.registersByHand && { WEBHOOK_SECRET: fake.registerByHand(url) }),
      ...(family.secretInAddress === true && { WEBHOOK_SECRET: family.events?.newSecret() ?? '' }),
    };
    const profile = family.profile as Readonly<Record<string, unknown>>;
    const webhooks = family.events === null ? 'none' : 'on';
    await withStack({ profile, service: fake, receiverPort, webhooks, env }, async (stack) => await test(stack, fake));
  } finally {
    await fake.close();
  }
}
