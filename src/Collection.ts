/** `npm run collection`: writes docs/ballast.postman_collection.json from the contract (http/docs). */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { OpenApi } from "effect/http-api"
import { fileURLToPath } from "node:url"
import { postmanCollection } from "#http/docs/postmanCollection.ts"
import { V2 } from "#http/v2/Api.ts"

const file = fileURLToPath(new URL("../docs/ballast.postman_collection.json", import.meta.url))

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  yield* files.writeFileString(file, `${JSON.stringify(postmanCollection(OpenApi.fromApi(V2)), null, 2)}\n`)
})

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer))
