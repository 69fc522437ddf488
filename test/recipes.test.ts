/** CONTRIBUTING.md: each recipe has steps in order and a commit that is its example. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "#test/sources.ts"
import { gitHistory } from "#test/support/suite/gitHistory.ts"

const recipes = readFileSync(join(root, "CONTRIBUTING.md"), "utf8")
  .split(/^(?=## An? )/mu)
  .slice(1)
  .map((text) => ({ title: /^## (.*)/u.exec(text)![1]!, text }))

const examples = recipes.flatMap(({ text, title }) =>
  [...text.replaceAll("\n", " ").matchAll(/Example: `([0-9a-f]{8})` (.+?)\.(?= {2}|$)/gu)].map(([, hash, subject]) => ({
    title,
    hash: hash!,
    subject: subject!
  }))
)
const { git, unless } = gitHistory(examples.map(({ hash }) => hash))

describe("recipes", () => {
  it("there is one for each kind of change that somebody searched for", () =>
    assert.includeMembers(
      recipes.map(({ title }) => title),
      [
        "A route",
        "A procedure",
        "A webhook event",
        "A skip code",
        "A field of a portfolio",
        "A migration",
        "A setting",
        "A provider",
        "A venue",
        "A chain",
        "A chain family",
        "A step of a workflow"
      ]
    ))

  it("each has one example, and its steps are numbered and name files", () => {
    for (const { text, title } of recipes) {
      assert.lengthOf(
        examples.filter((example) => example.title === title),
        1,
        title
      )
      const steps = text.match(/^\d+\. /gmu) ?? []
      assert.deepStrictEqual(
        steps,
        steps.map((_, index) => `${index + 1}. `),
        title
      )
      assert.isAtLeast(steps.length, 3, title)
      assert.match(text, /`[\w.-]+\/[^`]+`/u, title)
    }
  })

  it.skipIf(unless !== "")(`every example is in the history under its subject${unless}`, () => {
    for (const { hash, subject } of examples) {
      assert.strictEqual(git("log", "-1", "--format=%s", hash).trim(), subject, hash)
      git("merge-base", "--is-ancestor", hash, "HEAD")
    }
  })
})
