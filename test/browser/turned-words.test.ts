import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_STYLE } from '../../src/console/console-app.ts';
import { STYLE } from '../../src/report/html/html-report.ts';
import { BROWSER_PATH, launchBrowser } from '../support/browser/browser.ts';

const NAME = 'may\u202Evsc.csv';

describe.skipIf(BROWSER_PATH === null)('a name that turns the reading direction around', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchBrowser();
    page = await browser.newPage();
  });

  afterAll(() => browser.close());

  /** Where the first and the last letter of the words behind the name stand, from the left. */
  function places(): Promise<readonly number[]> {
    return page.evaluate(`(() => {
      const words = document.querySelector('#behind').firstChild;
      return [0, words.textContent.length - 1].map((at) => {
        const range = document.createRange();
        range.setStart(words, at);
        range.setEnd(words, at + 1);
        return range.getBoundingClientRect().left;
      });
    })()`);
  }

  for (const [where, style] of [
    ['the console', CONSOLE_STYLE],
    ['a report', STYLE],
  ] as const) {
    it.each(['strong', 'code', 'a', 'span'])(
      `changes nothing of the words behind it in ${where}: %s`,
      async (element) => {
        await page.setContent(
          `<style>${style}</style><ul><li><${element}>${NAME}</${element}><i id="behind">: it waits for the next night</i></li></ul>`,
        );

        const [first, last] = await places();

        expect(first).toBeLessThan(last ?? 0);
      },
    );
  }
});
