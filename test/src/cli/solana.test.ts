/** The owner's way out by the command line, over a chain that lives. */
import { NodeServices } from "@effect/platform-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Keypair } from "@solana/web3.js"
import { ConfigProvider, Console, Effect, Exit } from "effect"
import { Command } from "effect/cli"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import * as Base58 from "#domain/values/Base58.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { installMints, issue, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { solana } from "#src/cli/solana.ts"
import { enrollEvm, enrollSolana, evmWalletOf, newAgent, onChain, whileBlocksPass } from "#test/layers/solana/owners.ts"
import { fundedKey, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

describe("solana leave", () => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await startTestChain()
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const run = Effect.fnUntraced(function* (wallet: string, env: Readonly<Record<string, string>>) {
    const printed: Array<string> = []
    const write = (text: string) => void printed.push(text)
    const console = { ...(yield* Console.Console), log: write, error: write } as Console.Console
    const exit = yield* Command.runWith(solana, { version: "0" })(["leave", "--wallet", wallet]).pipe(
      Effect.provideService(Console.Console, console),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)),
      Effect.provide(NodeServices.layer),
      Effect.exit
    )
    return { text: printed.join("\n"), exit }
  })

  it.live("takes all out with a node and the owner's key, and says what", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      const { deposit, wallet } = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      issue(chain.ledger, deposit, { token: usdc, amountRaw: 5n })
      const env = { SOLANA_RPC_URL: chain.url, SOLANA_OWNER_PRIVATE_KEY: Base58.encode(owner.secretKey) }
      const { exit, text } = yield* whileBlocksPass(chain)(run(wallet.toBase58(), env))
      assert.isTrue(Exit.isSuccess(exit))
      assert.include(text, `${deposit.toBase58()}: 1 assets taken out, 0 stayed`)
      assert.include(text, `taken   ${usdc.assetId}`)
      assert.strictEqual(amountIn(chain.ledger.account(tokenAccount(usdc, owner.publicKey))!.data), 5n)
      const unset = yield* run(wallet.toBase58(), { SOLANA_RPC_URL: chain.url })
      assert.isTrue(Exit.isFailure(unset.exit))
    })
  )

  it.live("takes the key of an EVM wallet beside the one that pays", () =>
    Effect.gen(function* () {
      const evmKey = generatePrivateKey()
      const [agent, payer] = [newAgent(chain), fundedKey(chain)]
      const { deposit, wallet } = yield* onChain(chain)(
        enrollEvm(chain, agent, evmWalletOf(privateKeyToAccount(evmKey)))
      )
      issue(chain.ledger, deposit, { token: usdc, amountRaw: 5n })
      const env = {
        SOLANA_RPC_URL: chain.url,
        SOLANA_OWNER_PRIVATE_KEY: Base58.encode(payer.secretKey),
        SOLANA_OWNER_EVM_PRIVATE_KEY: evmKey
      }
      const { exit, text } = yield* whileBlocksPass(chain)(run(wallet.toBase58(), env))
      assert.isTrue(Exit.isSuccess(exit), text)
      assert.strictEqual(amountIn(chain.ledger.account(tokenAccount(usdc, payer.publicKey))!.data), 5n)
    })
  )
})
