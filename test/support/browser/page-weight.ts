import type { Page, Response } from 'playwright-core';

/** Bytes of everything that a page loads. */
export interface PageWeight {
  /** Unpacked. */
  readonly decoded: number;
  /** As it travels, without headers. */
  readonly transferred: number;
}

/** Weighs what a navigation loads: the page, its style, its script, its icon. */
export async function weighPage(page: Page, navigate: () => Promise<unknown>): Promise<PageWeight> {
  const answers: Response[] = [];
  const note = (answer: Response): void => void answers.push(answer);
  page.on('response', note);
  await navigate();
  await page.waitForLoadState('networkidle');
  page.off('response', note);
  const weights = await Promise.all(
    answers.map(async (answer) => ({
      decoded: (await answer.body()).byteLength,
      transferred: (await answer.request().sizes()).responseBodySize,
    })),
  );
  return {
    decoded: weights.reduce((sum, one) => sum + one.decoded, 0),
    transferred: weights.reduce((sum, one) => sum + one.transferred, 0),
  };
}
