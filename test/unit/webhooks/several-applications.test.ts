import { describe, expect, it, onTestFinished } from 'vitest';
import { startReceiverOfSeveral } from '../../../src/webhooks/server.ts';
import { deliver, eventOf, recordingLedger, SHAPES, signatureOf } from './receiver-fixture.ts';

const SECRETS = { anna: 'whsec_anna', berta: 'whsec_berta' };

async function receiverOfTwo() {
  const ledgers = { anna: recordingLedger(), berta: recordingLedger() };
  const endpointOf = (name: keyof typeof SECRETS) =>
    [
      name,
      {
        ledger: ledgers[name],
        secrets: async () => [SECRETS[name]],
        shapes: SHAPES,
        identity: `receiver of ${name}`,
        onStored: () => undefined,
      },
    ] as const;
  const receiver = await startReceiverOfSeveral({
    ...{ host: '127.0.0.1', port: 0, log: { warn: () => undefined } },
    applications: new Map([endpointOf('anna'), endpointOf('berta')]),
  });
  onTestFinished(() => receiver.close());
  return { receiver, ledgers };
}

function signedBy(name: keyof typeof SECRETS, body: string): Record<string, string> {
  return { 'x-service-signature': signatureOf(body, SECRETS[name]) };
}

describe('a receiver of several applications', () => {
  it('stores a delivery for the application of its address, and for no other', async () => {
    const { receiver, ledgers } = await receiverOfTwo();
    const body = eventOf(1);

    const answer = await deliver(`${receiver.url}/anna`, body, signedBy('anna', body));

    expect(answer.status).toBe(204);
    expect(ledgers.anna.groups.flat()).toHaveLength(1);
    expect(ledgers.berta.groups).toEqual([]);
  });

  it("refuses a delivery that another application's secret signs", async () => {
    const { receiver, ledgers } = await receiverOfTwo();
    const body = eventOf(1);

    const answer = await deliver(`${receiver.url}/berta`, body, signedBy('anna', body));

    expect(answer.status).toBe(401);
    expect([...ledgers.anna.groups, ...ledgers.berta.groups]).toEqual([]);
  });

  it.each(['', '/', '/carla', '/anna/secret', '/Anna', '/an%6ea', '/anna/../berta/x'])(
    'answers nobody at an address that is of no application: %s',
    async (path) => {
      const { receiver, ledgers } = await receiverOfTwo();
      const body = eventOf(1);

      const answer = await deliver(`${receiver.url}${path}`, body, signedBy('anna', body));

      expect(answer.status).toBe(404);
      expect([...ledgers.anna.groups, ...ledgers.berta.groups]).toEqual([]);
    },
  );

  it('says whose each address is, and that it is well', async () => {
    const { receiver } = await receiverOfTwo();

    const asked = await fetch(`${receiver.url}/berta`);
    const health = await fetch(receiver.url.replace('/webhooks', '/health/ready'));

    expect([asked.status, asked.headers.get('lote-receiver')]).toEqual([405, 'receiver of berta']);
    expect(health.status).toBe(200);
  });
});
