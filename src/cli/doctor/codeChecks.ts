/**
 * Whether the contracts of others that a chain's file names have the code that it pins, by the comparison with which
 * the same file deploys.
 */
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { decodeChainFile } from "#layers/evm/deployment/ChainFile.ts"
import { compareCode, pinnedCodes } from "#layers/evm/deployment/inspectSurroundings.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"
import { text } from "#src/config/kinds.ts"
import { optional } from "#src/config/Setting.ts"

const checkedIn = fileURLToPath(new URL("../../../deploy/chains", import.meta.url))

/** Folder of the chains' files. */
const folder = Effect.map(
  Effect.orElseSucceed(optional("CHAIN_FILES", text("a folder of files of chains", "/etc/ballast/chains")), () => null),
  (named) => named ?? checkedIn
)

const codeConcurrency = 4

const contentOf = (path: string) =>
  Effect.option(Effect.try({ try: () => readFileSync(path, "utf8"), catch: (cause) => cause }))

/** Findings on the code of contracts of others; a warning for each that nobody has pinned. */
export const codeChecks = Effect.fnUntraced(function* ({ chainId }: EvmChain, subject: string) {
  const path = join(yield* folder, `${chainId}.json`)
  const content = yield* contentOf(path)
  if (content._tag === "None")
    return [
      warning(
        subject,
        `there is no file ${path}, so the code of EntryPoint, factories, signer, diamond, routers and bridges is not compared`,
        "Set CHAIN_FILES to the folder that the contracts were deployed by (docs/deploying-contracts.md)."
      )
    ]
  const file = yield* Effect.result(decodeChainFile(path, content.value))
  if (Result.isFailure(file)) return file.failure.reasons.map((line) => problem(subject, line, "Correct the file."))
  const { request } = yield* EvmClients
  const pinned = pinnedCodes(file.success)
  const compared = yield* Effect.forEach(
    pinned,
    (one) =>
      Effect.map(
        request(chainId, "eth_getCode", (client) => client.getCode(one)),
        (code) => compareCode(one, code)
      ),
    { concurrency: codeConcurrency }
  )
  const found: ReadonlyArray<Finding> = compared.flatMap(({ unpinned, wrong }) => [
    ...wrong.map((line) =>
      problem(subject, line, "Send nothing until somebody has found out why: accounts are made of these contracts.")
    ),
    ...unpinned.map((line) =>
      warning(subject, line, `Compare it with the chain's explorer, and write it into ${path}.`)
    )
  ])
  const asListed = compared.filter((one) => one.asListed.length > 0).length
  return [ok(subject, `${asListed} contracts of others have the code that its file pins`), ...found]
})
