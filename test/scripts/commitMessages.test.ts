/** Messages of commits: the rule, the hook that holds it, and every commit since it is held. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { faultsOf } from "#scripts/commitMessage.mjs"
import { gitHistory } from "#test/support/suite/gitHistory.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Commits after this one are held to the rule. */
const since = "a33fd5dbb9703579d0d59b7fe074f27acf48f2a4"
const { git, unless } = gitHistory([since])

const body = "Readers of the log find out why it was done."

describe("the rule of commit messages", () => {
  it("takes a short subject with a body that says why", () => {
    assert.deepStrictEqual(faultsOf(`Webhooks end\n\n${body}\n`), [])
    assert.deepStrictEqual(faultsOf(`# a comment\n${"x".repeat(72)}\n\n${body}\n# another`), [])
    assert.deepStrictEqual(faultsOf("Merge branch 'house'"), [])
    assert.deepStrictEqual(faultsOf(`${"é".repeat(72)}\n\n${body}`), [])
  })

  it("names each fault", () => {
    assert.deepStrictEqual(faultsOf(""), ["the message is empty"])
    assert.deepStrictEqual(faultsOf(`${"x".repeat(73)}\n\n${body}`), ["the subject has 73 characters; 72 are the most"])
    assert.deepStrictEqual(faultsOf(`Webhooks end\n${body}\n${body}`), [
      "an empty line parts the subject from the body"
    ])
    const none = ["a body says why, in five words or more"]
    for (const text of [
      "Webhooks end",
      "Webhooks end\n\nto be nice",
      "Webhooks end\n\nSigned-off-by: A Person With A Name"
    ])
      assert.deepStrictEqual(faultsOf(text), none, text)
  })

  it.skipIf(process.platform === "win32")("is held by .githooks/commit-msg, which git runs in a repository", () => {
    const folder = mkdtempSync(join(tmpdir(), "ballast-hook-"))
    try {
      const write = (text: string) => {
        const file = join(folder, "message")
        writeFileSync(file, text)
        return spawnSync(process.execPath, [join(root, "scripts/commitMessage.mjs"), file], { encoding: "utf8" })
      }
      assert.strictEqual(write(`Webhooks end\n\n${body}\n`).status, 0)
      const { status, stderr } = write("Webhooks end\n")
      assert.strictEqual(status, 1)
      assert.include(stderr, "a body says why")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe("commits", () => {
  it.skipIf(unless !== "")(`since the rule is held, every message keeps it${unless}`, () => {
    const log = git("log", "--no-merges", "--format=%H%n%B%x00", `${since}..HEAD`)
    const commits = log
      .split("\0")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
    assert.deepStrictEqual(
      commits.flatMap((entry) => {
        const [hash, ...message] = entry.split("\n")
        return faultsOf(message.join("\n")).map((fault) => `${hash!.slice(0, 8)} ${message[0]}: ${fault}`)
      }),
      []
    )
  })
})
