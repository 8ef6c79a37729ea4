import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';

export const SECRET = 'whsec_of-the-tests';

/** What a receiver of the tests is, where a test says nothing else. */
export const PLAIN = {
  ...{ host: '127.0.0.1', port: 0, registeredUrl: null, identity: 'mine' },
  shapes: { ...DEFAULT_PROFILE, idPrefix: DEFAULT_PROFILE.invoice.idPrefix },
  secrets: async () => [SECRET],
  accept: () => true,
  ready: async () => ({ status: 'ready', parts: {} }) as const,
  note: async () => undefined,
};
