import { spawn } from 'node:child_process';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { createInvoicingService } from '../src/service/client.ts';
import { DEFAULT_PROFILE } from '../src/service-profile/default-profile.ts';
if (process.argv[2] === 'server') {
  const answer = JSON.stringify({ id: 'inv_0123456789abcdef01234567', status: 'processing', number: null, created_at: '2026-01-01T00:00:00.000Z', customer: { name: 'Cliente Secreto 1', tax_id: '200000001' }, currency: 'EUR', total: '37.82' });
  const s = createServer((q, r) => { q.resume().once('end', () => { r.writeHead(201, { 'content-type': 'application/json', 'x-request-id': 'req_123456' }).end(answer); }); });
  s.listen(0, '127.0.0.1', () => console.log((s.address() as any).port));
} else {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/sc.tmp.ts', 'server'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = Number(await new Promise<string>((r) => child.stdout.once('data', (d) => r(String(d)))));
  const url = `http://127.0.0.1:${port}`;
  const pool = new Pool(url, { connections: 64, pipelining: 1 });
  const client = createInvoicingService({ baseUrl: url, apiKey: 'sk_test_aaaaaaaaaaaaaaaaaa', profile: DEFAULT_PROFILE, application: 'default' } as never);
  const body = JSON.stringify({ merchant_id: 'mrc_0123456789', customer: { name: 'Cliente Secreto 1', tax_id: '200000001' }, currency: 'EUR', lines: [{ description: 'Artigo 1', quantity: 3, unit_price: 10.25, tax_code: 'IVA_23' }] });
  const withdrawal = new AbortController();
  const permit = { withdrawn: withdrawal.signal, isValid: () => true, confirm: async () => true };
  const headers = { authorization: 'Bearer sk_test_aaaaaaaaaaaaaaaaaa', 'content-type': 'application/json' };
  let n = 0;
  const bare = async () => { n++; const a = await pool.request({ method: 'POST', path: '/v1/invoices', body, headers: { ...headers, 'idempotency-key': `k${n}` } }); await a.body.text(); };
  const lote = async () => { n++; const a = await client.createInvoice(body, `k${n}`, { permit } as never); if (a.kind !== 'created') throw new Error(JSON.stringify(a)); };
  async function m(name: string, f: () => Promise<void>, N = 12000) {
    let left = N; const b = process.cpuUsage();
    await Promise.all(Array.from({ length: 64 }, async () => { while (left-- > 0) await f(); }));
    const u = process.cpuUsage(b); console.log(name, ((u.user + u.system) / N).toFixed(0), 'us', `user ${(u.user/N).toFixed(0)} sys ${(u.system/N).toFixed(0)}`);
  }
  const rounds = async (tag: string) => { for (let r = 0; r < 3; r++) { await m(`${tag} bare`, bare); await m(`${tag} lote`, lote); } };
  await rounds('');
  const als = new AsyncLocalStorage();
  await als.run({}, () => rounds('als'));
  child.kill(); process.exit(0);
}
