import { createServer, type AddressInfo, type Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { MailConfig } from '../../../src/app/config/config.ts';
import { sendMail } from '../../../src/nightly/night-message.ts';
import { selfSigned } from '../../support/servers/self-signed.ts';
import { until } from '../../support/until.ts';
import { mailServer, smtpError } from '../../support/servers/mail-server.ts';

const MESSAGE = {
  messageId: '<night-default-2026-11-23-1a2b3c4d-email@lote.example>',
  subject: 'Lote, noite de 23 de novembro: precisa de alguém',
  text: 'São 2 ficheiros.\n',
};
const TIMES = { stepMs: 20_000, wholeMs: 60_000 };
const PASSWORD = 'pass word';
/** Of the mail server; the machine of the test trusts it. */
const pair = selfSigned('valid');

const connect = tls.connect;

beforeEach(() => {
  const trusting = (options: ConnectionOptions, ...rest: []) => connect({ ...options, ca: pair.cert }, ...rest);
  vi.spyOn(tls, 'connect').mockImplementation(trusting as typeof connect);
});
afterEach(() => void vi.restoreAllMocks());

/** A server's answer to what a sender names. */
function refusing(code: number, words: string) {
  return (_: unknown, __: unknown, done: (error: Error) => void) => done(smtpError(code, words));
}

describe('a message by SMTP', () => {
  function mail(port: number, over: Partial<MailConfig> = {}): MailConfig {
    return {
      ...{ host: '127.0.0.1', port, tls: 'starttls', from: 'Lote <lote@lote.example>' },
      auth: { user: 'ana', password: PASSWORD },
      to: ['back@office.example', 'boss@office.example'],
      ...over,
    };
  }

  it('goes under STARTTLS with a login, under its own id, as text in UTF-8', async () => {
    const server = await mailServer(pair);

    expect(await sendMail(mail(server.port), MESSAGE, TIMES)).toBeNull();

    expect(server.taken).toMatchObject([
      { from: 'lote@lote.example', to: ['back@office.example', 'boss@office.example'], user: 'ana', secure: true },
    ]);
    const source = server.taken[0]?.source ?? '';
    expect(source).toContain(`Message-ID: ${MESSAGE.messageId}`);
    expect(source).toContain('text/plain; charset=utf-8');
    expect(source).toContain('S=C3=A3o 2 ficheiros.');
  });

  it('goes under TLS from the first byte, and without TLS where that is allowed', async () => {
    const secure = await mailServer({ ...pair, secure: true });
    await sendMail(mail(secure.port, { tls: 'implicit' }), MESSAGE, TIMES);
    const plain = await mailServer({ hideSTARTTLS: true });
    await sendMail(mail(plain.port, { tls: 'none', auth: null }), MESSAGE, TIMES);

    expect(secure.taken).toMatchObject([{ secure: true, user: 'ana' }]);
    expect(plain.taken).toMatchObject([{ secure: false, user: undefined }]);
  });

  it('says neither password nor message to a server that has no STARTTLS, or another certificate', async () => {
    const bare = await mailServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    await expect(sendMail(mail(bare.port), MESSAGE, TIMES)).rejects.toMatchObject({ code: 'message-refused' });
    const stranger = await mailServer(selfSigned('valid'));
    await expect(sendMail(mail(stranger.port), MESSAGE, TIMES)).rejects.toMatchObject({ code: 'message-unsent' });

    expect([bare.logins, bare.taken, stranger.logins, stranger.taken]).toEqual([[], [], [], []]);
  });

  it.each([
    ['a wrong password', 535, {}, 'nonsense'],
    ['no recipient at all', 550, { onRcptTo: refusing(550, 'No back@office.example here') }, PASSWORD],
    ['a sender that it does not know', 553, { onMailFrom: refusing(553, 'lote@lote.example?') }, PASSWORD],
  ])(
    'is refused for good after %s, and the error holds neither address nor password',
    async (_, code, on, password) => {
      const server = await mailServer({ ...pair, ...on });
      const given = mail(server.port, { auth: { user: 'ana', password } });
      const failure: unknown = await sendMail(given, MESSAGE, TIMES).catch((error: unknown) => error);

      const message = expect.stringContaining(String(code)) as string;
      expect(failure).toMatchObject({ code: 'message-refused', message });
      expect(JSON.stringify(failure) + String(failure)).not.toMatch(
        /office\.example|lote\.example|nonsense|pass word/u,
      );
    },
  );

  it('may go later after an answer 4xx, and without a server', async () => {
    const busy = await mailServer({ ...pair, onMailFrom: (_a, _s, done) => done(smtpError(451, 'Later')) });
    await expect(sendMail(mail(busy.port), MESSAGE, TIMES)).rejects.toMatchObject({
      code: 'message-unsent',
      message: expect.stringContaining('451') as string,
    });
    await expect(sendMail(mail(1), MESSAGE, TIMES)).rejects.toMatchObject({ code: 'message-unsent' });
  });

  it('counts as sent when one of two addresses was refused, and says so without the address', async () => {
    const server = await mailServer({
      ...pair,
      onRcptTo: ({ address }, _s, done) => done(address.startsWith('boss') ? smtpError(550, 'Gone') : null),
    });

    expect(await sendMail(mail(server.port), MESSAGE, TIMES)).toBe('1 of 2 addresses were refused');
    expect(server.taken).toMatchObject([{ to: ['back@office.example'] }]);
  });

  it('ends with a server that says nothing, and with one that never comes to an end', async () => {
    const silent = await tcpServer(() => undefined);
    const quick = { ...TIMES, stepMs: 200, wholeMs: 60_000 };
    await expect(sendMail(mail(silent), MESSAGE, quick)).rejects.toMatchObject({ code: 'message-unsent' });
    // A line of the greeting now and then keeps each step in time.
    let ended = false;
    const dripping = await tcpServer((socket) => {
      socket.on('close', () => (ended = true));
      const timer = setInterval(() => socket.write('220-wait\r\n'), 20);
      socket.on('close', () => clearInterval(timer)).on('error', () => clearInterval(timer));
    });
    await expect(sendMail(mail(dripping), MESSAGE, { stepMs: 60_000, wholeMs: 300 })).rejects.toMatchObject({
      code: 'message-unsent',
      message: expect.stringContaining('0.3 s') as string,
    });
    await until(() => ended);
  });
});

async function tcpServer(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
