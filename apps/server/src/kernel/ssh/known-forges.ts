/** Fingerprints of host keys as the forges publish them. Last looked at: 2026-11-30. */
const FORGES: Record<string, readonly string[]> = {
  // https://docs.github.com/authentication/keeping-your-account-and-data-secure/githubs-ssh-key-fingerprints
  'github.com': [
    'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU',
    'SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
    'SHA256:uNiVztksCsDhcc0u9e8BujQXVUpKZIDTMczCvj3tD2s',
  ],
  // https://docs.gitlab.com/user/gitlab_com/#ssh-host-keys-fingerprints
  'gitlab.com': [
    'SHA256:eUXGGm1YGsMAS7vkcx6JOJdOGHPem5gQp4taiCfCLB8',
    'SHA256:HbW3g8zUjNSksFbqTiUWPWg2Bq1x8xdGUrliXFzSnUw',
    'SHA256:ROQFvPThGrW4RuWLoL9tq9I9zJ42fK4XywyRtbOz/EQ',
  ],
  // https://support.atlassian.com/bitbucket-cloud/docs/configure-ssh-and-two-step-verification/
  'bitbucket.org': [
    'SHA256:ybgmFkzwOSotHTHLJgHO0QN8L0xErw6vd0VhFA9m3SM',
    'SHA256:FC73VB6C4OQLSCrjEayhMp9UMxS97caD/Yyi2bhW/J0',
    'SHA256:46OSHA1Rmj8E8ERTC6xkNcmGOw9oFxYr0WF6zWW8l1E',
  ],
};

/** The published fingerprints of a host; `null` for one that publishes none that is known here. */
export function publishedFingerprints(host: string): readonly string[] | null {
  return FORGES[host] ?? null;
}
