/** A chain with all that a real one has before Ballast is deployed there, and the files of its deployment. */
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Address, createPublicClient, http, keccak256, parseEther, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { ChainFile, GuardKeys } from "#layers/evm/deployment/ChainFile.ts"
import { catalogChain } from "#sandbox/assets/catalog.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { startAnvil } from "#sandbox/chain/Anvil.ts"
import { chainFile } from "#sandbox/chain/chainFile.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { furnishChain } from "#sandbox/chain/installChain.ts"

export const deployerKey = keccak256(toHex("ballast deployment test deployer"))
export const deployer = privateKeyToAccount(deployerKey).address

const named = (name: string) => privateKeyToAccount(keccak256(toHex(`ballast deployment test ${name}`))).address

/** The deployer keeps the guard, so that nothing is left for another account. */
export const ownKeys: GuardKeys = {
  deployer,
  administrator: deployer,
  guardian: named("guardian"),
  attestor: named("attestor")
}

/** Starts one, with a deployer who can pay; chain and folder end with the scope. */
export const freshChain = Effect.fnUntraced(function* (chainId = 8453) {
  const contracts = yield* loadContracts
  const { client, rpcUrl } = yield* startAnvil(chainId, undefined)
  const chain = catalogChain(chainId)!
  const prices = new PriceBook()
  const at = yield* furnishChain({ client, contracts, chain }, prices)
  const file: ChainFile = yield* chainFile({ at, chain, client, priceOf: ({ assetId }) => prices.price(assetId) })
  yield* Effect.promise(() => client.setBalance({ address: deployer, value: parseEther("10") }))
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "ballast-deployment-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const files = join(folder, "chains")
  mkdirSync(files)
  return { at, chain, client, contracts, file, files, folder, prices, rpcUrl }
})

export type FreshChain = Effect.Success<ReturnType<typeof freshChain>>

/** Writes what the program reads, and answers where; the key may be read by its owner alone. */
export const writtenFiles = ({ file, files, folder }: FreshChain, keys: GuardKeys) => {
  const paths = { files, keys: join(folder, "keys.json"), keyFile: join(folder, "deployer.key") }
  writeFileSync(join(files, `${file.chainId}.json`), JSON.stringify(file))
  writeFileSync(paths.keys, JSON.stringify(keys))
  writeFileSync(paths.keyFile, deployerKey, { mode: 0o600 })
  return paths
}

/** Reads the chain as operators do. */
export const reader = ({ rpcUrl }: Pick<FreshChain, "rpcUrl">) => createPublicClient({ transport: http(rpcUrl) })

/** Transactions that an account has sent. */
export const sentBy = (fresh: FreshChain, address: Address) =>
  Effect.promise(() => fresh.client.getTransactionCount({ address }))
