import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { listen } from './own-port.ts';

/** A message as the server received it. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
  /** The name of the login; undefined if the client did not log in. */
  readonly user: string | undefined;
  readonly secure: boolean;
}

/** Makes an error with the code that the server answers. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Starts a real mail server on loopback that accepts every message. It ends with the test. */
export async function mailServer(options: SMTPServerOptions = {}, password = 'pass word') {
  const taken: TakenMail[] = [];
  /** Names of all login attempts. */
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 100,
    logger: false,
    onAuth(auth, _session, callback) {
      logins.push(auth.username ?? '');
      if (auth.password === password) callback(null, { user: auth.username ?? '' });
      else callback(smtpError(535, `Password of ${auth.username} is wrong`));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        taken.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString('utf8'),
          user: session.user === undefined ? undefined : String(session.user),
          secure: session.secure,
        });
        callback();
      });
    },
    ...options,
  });
  const port = await listen(server.server);
  server.on('error', () => undefined);
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port, taken, logins };
}
