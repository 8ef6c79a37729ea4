/** What may be released after a version. */
export type Step = 'major' | 'minor' | 'patch';

const UNRELEASED = '## [Unreleased]';

/**
 * The version after `version`, such as 0.2.0 after 0.1.3 for `minor`.
 * @throws Error when `version` is not three numbers
 */
export function nextVersion(version: string, step: Step): string {
  const [major, minor, patch, more] = version.split('.').map(Number);
  if (
    major === undefined ||
    minor === undefined ||
    patch === undefined ||
    more !== undefined ||
    Number.isNaN(major + minor + patch)
  )
    throw new Error(`package.json must hold a version of three numbers, and holds ${version}`);
  if (step === 'major') return `${major + 1}.0.0`;
  return step === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/**
 * The changelog with what is unreleased under the new version and date (YYYY-MM-DD).
 * @throws Error when there is nothing to release
 */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  const [before, after, more] = changelog.split(`${UNRELEASED}\n`);
  if (before === undefined || after === undefined || more !== undefined)
    throw new Error(`CHANGELOG.md must have the heading "${UNRELEASED}" once`);
  const [entries = ''] = after.split(/^## \[/mu);
  if (!/^- /mu.test(entries))
    throw new Error('CHANGELOG.md must say under "Unreleased" what users notice, and says nothing there');
  return `${before}${UNRELEASED}\n\n## [${version}] - ${date}\n${after}`;
}
