import { createServer, request, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A reverse proxy in a separate process. It signs people in by `Authorization: Person NAME GROUPS`, drops the sign-in
 * headers of the client, and connects to the console from its own address. Arguments: the console's address, its own.
 */
const [, , target = '', source = '127.0.0.1'] = process.argv;
const { hostname, port } = new URL(target);
const SIGNED_IN = /^Person (\S+) ?(\S*)$/u;

const server = createServer((incoming, answer) => {
  const { authorization = '', 'x-forwarded-user': _, 'x-forwarded-groups': _groups, ...others } = incoming.headers;
  const [, name, groups = ''] = SIGNED_IN.exec(authorization) ?? [];
  const headers: OutgoingHttpHeaders = { ...others, 'x-forwarded-for': incoming.socket.remoteAddress };
  if (name !== undefined) Object.assign(headers, { 'x-forwarded-user': name, 'x-forwarded-groups': groups });
  const { method, url: path } = incoming;
  const onward = request({ hostname, port, method, path, headers, localAddress: source }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.writeHead(502).end());
  incoming.pipe(onward);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
