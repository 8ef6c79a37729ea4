import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { checkPage } from '../pages/check-page.ts';
import type { ConsoleActions, ConsoleOptions } from '../console-options.ts';
import { readDeclared } from '../forms/declared.ts';
import { multipartFile } from '../http/multipart-file.ts';
import type { PageAnswers } from '../http/page-answers.ts';
import { mayOperate } from '../people/caller.ts';
import { noteAct } from '../people/people.ts';

const StartForm = z.object({
  file: z.string().min(1).max(1_000),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/u)
    .optional(),
  checkedProfile: z
    .string()
    .regex(/^(?:[0-9a-f]{64})?$/u)
    .optional(),
  acceptDuplicateRisk: z.literal('yes').optional().catch(undefined),
});
/** A profile without these codes cannot tell a refusal from a duplicate. */
const DoubtfulRefusals = z.object({ idempotency: z.object({ mismatchCodes: z.array(z.unknown()).max(0) }) });

/** A file comes by the browser, is checked, and started: nothing is sent before the last step. */
export function fileRoutes(
  options: ConsoleOptions,
  files: NonNullable<ConsoleActions['files']>,
  pages: PageAnswers,
): Hono {
  const { ledger, application = 'default' } = options;
  const routes = new Hono();

  routes.post('/files', async (context) => {
    const body = context.req.raw.body;
    const uploaded =
      body === null ? null : await multipartFile(context.req.header('content-type') ?? '', bytesOf(body));
    // Nothing was chosen: the form is there again.
    if (uploaded === null) return context.redirect('/', 303);
    const file = await files.keep(uploaded.name, uploaded.content);
    return context.redirect(`/check?${new URLSearchParams({ file }).toString()}`, 303);
  });

  routes.get('/check', async (context) => {
    const file = context.req.query('file') ?? '';
    // A check is work, and leads to a start: who may only look has no use of it.
    if (!mayOperate(context)) return pages.roleMissing(context);
    if (file === '') return pages.notFound(context);
    const declared = readDeclared(context.req.query());
    const check = await files.check(file, declared);
    const format = pages.formatOf(context);
    const known = await ledger.batchOfFile(application, check.sha256);
    const content = checkPage(format, {
      ...{ file, declared, check, known },
      refusalsDoubted: DoubtfulRefusals.safeParse(options.serviceProfile).success,
    });
    return pages.show(context, { title: format.texts.dryRun.title, content });
  });

  routes.post('/start', async (context) => {
    const form = await formOf(context);
    const started = StartForm.safeParse(form);
    if (!started.success) return context.redirect('/', 303);
    const accepted = started.data.acceptDuplicateRisk === 'yes' ? { acceptDuplicateRisk: true } : {};
    const declared = { ...readDeclared(form), ...accepted };
    const note = (id: string) => noteAct(context, options.people, id, { what: 'start', why: started.data.file });
    const { file, sha256: checked, checkedProfile: profile } = started.data;
    const { batchId, sha256 } = await files.start(file, declared, note, { sha256: checked, profile });
    return context.redirect(`/batches/${encodeURIComponent(batchId)}?started=${sha256}`, 303);
  });

  return routes;
}

/** Small forms only: their bodies are bounded where the routes are mounted. */
export async function formOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  return context.req.parseBody({ all: true });
}

async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // A body that is not read to its end must not hold its connection.
    await reader.cancel().catch(() => undefined);
  }
}
