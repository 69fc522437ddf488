/** Ids are plain only where decision 279 says so. */
import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

/** What a wallet signed is read as it was sent, and then compared. */
const readAsSent = ["domain/identity/SignInMessage.ts"]

it("ids of chains have their brand in the domain and in its layers", () => {
  const plain = ["domain", "layers"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => `${folder}/${path}`)
      .filter((path) => /\b\w*[cC]hainId\??: number\b/u.test(readFileSync(join(root, path), "utf8")))
  )
  assert.deepStrictEqual(plain, readAsSent)
})
