/** The history of the repository, for tests that read it: a clone may be shallow, and an archive has none. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const run = (args: ReadonlyArray<string>) => spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 })

/** `unless` is empty, or says why a test that needs these commits is skipped, for the end of its name. */
export const gitHistory = (commits: ReadonlyArray<string>) => {
  const unless =
    run(["rev-parse", "--git-dir"]).status !== 0
      ? " (skipped: no git, or no repository)"
      : run(["rev-parse", "--is-shallow-repository"]).stdout.trim() === "true" &&
          commits.some((commit) => run(["cat-file", "-e", `${commit}^{commit}`]).status !== 0)
        ? " (skipped: the clone is shallow)"
        : ""
  return {
    unless,
    git: (...args: ReadonlyArray<string>): string => {
      const { status, stderr, stdout } = run(args)
      if (status !== 0) throw new Error(stderr)
      return stdout
    }
  }
}
