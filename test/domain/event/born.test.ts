/** Every type of event is written by a trigger of the schema or by a statement, so that a reader finds where. */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { EventBody } from "#domain/event/TenantEvent.ts"
import { root } from "#test/sources.ts"

const types = EventBody.members.flatMap(({ fields: { type } }) =>
  "literals" in type ? [...type.literals] : [type.literal]
)

it("each is named where tenant_events is written", () => {
  const writers = globSync("{migrations,layers/sql}/**/*.{ts,sql}", { cwd: root })
    .map((path) => readFileSync(join(root, path), "utf8"))
    .filter((text) => /INSERT\s+INTO\s+tenant_events/u.test(text))
  assert.isNotEmpty(writers)
  assert.isAbove(types.length, 12)
  assert.deepStrictEqual(
    types.filter((type) => !writers.some((text) => text.includes(`'${type}'`) || text.includes(`"${type}"`))),
    []
  )
})
