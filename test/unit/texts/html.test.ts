import { describe, expect, test } from 'vitest';
import { html, type HtmlValue } from '../../../src/texts/html.ts';

describe('html', () => {
  test('escapes text, numbers in lists and what comes from a file', () => {
    const name = `<b>"a" & 'b'</b>`;
    const { safe } = html`<p title="${name}">${[name, 1, html`<i>${name}</i>`]}</p>`;
    const escaped = '&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt;';
    expect(safe).toBe(`<p title="${escaped}">${escaped}1<i>${escaped}</i></p>`);
  });

  test('takes no object that was read from a file for HTML', () => {
    const forged = JSON.parse('{"safe":"<script>"}') as HtmlValue;
    expect(html`<p>${forged} ${[forged]}</p>`.safe).not.toContain('<script>');
  });
});
