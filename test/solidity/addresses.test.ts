/** What production deploys: the addresses in the code are those of the compiled contracts, and the ABI is theirs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Abi, getAbiItem, getCreate2Address, keccak256, pad, toFunctionSelector } from "viem"
import { formatAbiItem } from "viem/utils"
import {
  erc1271OwnerValidator,
  routedSwapAbi,
  routedSwapCodeHash,
  withdrawalExecutor,
  withdrawalExecutorAbi
} from "#layers/evm/contracts.ts"
import { settlementRuleAbi, tradeGuardAbi, tradeGuardCodeHash } from "#layers/evm/tradeGuard.ts"
import { create2Deployer } from "#layers/evm/deployment/DeploymentTarget.ts"
import { canonical } from "#sandbox/chain/canonical.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"

const addresses = { WithdrawalExecutor: withdrawalExecutor, Erc1271OwnerValidator: erc1271OwnerValidator }

/** Largest code of a contract (EIP-170). */
const codeLimit = 24_576

const signatures = (abi: Abi) =>
  abi
    .filter(({ type }) => type !== "constructor" && type !== "fallback")
    .map((item) => formatAbiItem(item))
    .toSorted()

describe("contracts", () => {
  for (const [name, address] of Object.entries(addresses)) {
    it.effect(`${name} has the address that accounts are made with`, () =>
      Effect.gen(function* () {
        const { creation, runtime } = (yield* loadContracts).own(name)
        const at = getCreate2Address({ from: create2Deployer, salt: pad("0x0"), bytecode: creation })
        assert.strictEqual(address, at)
        assert.isBelow(runtime.length / 2, codeLimit)
      })
    )
  }

  it("the sandbox installs them there", () => {
    assert.strictEqual(canonical.withdrawalExecutor, withdrawalExecutor)
    assert.strictEqual(canonical.erc1271OwnerValidator, erc1271OwnerValidator)
  })

  it.effect("RoutedSwap is known by its code, and called by its ABI", () =>
    Effect.gen(function* () {
      const { abi, runtime } = (yield* loadContracts).own("RoutedSwap")
      assert.strictEqual(routedSwapCodeHash, keccak256(runtime))
      const compiled = signatures(abi)
      for (const signature of signatures(routedSwapAbi as Abi)) assert.include(compiled, signature)
      assert.strictEqual(
        toFunctionSelector(getAbiItem({ abi: routedSwapAbi, name: "swap" })),
        toFunctionSelector("swap((address,uint256,address,uint256,address,uint256),bytes)")
      )
    })
  )

  it.effect("TradeGuard is known by its code, called by its ABI, and fits into a contract", () =>
    Effect.gen(function* () {
      const { abi, runtime } = (yield* loadContracts).own("TradeGuard")
      assert.strictEqual(tradeGuardCodeHash, keccak256(runtime))
      for (const name of ["TradeGuard", "TradeRunner", "SettlementRule", "RegistryChanges"]) {
        assert.isBelow((yield* loadContracts).own(name).runtime.length / 2, codeLimit, name)
      }
      // What the guard does not know itself it has the contract answer that changes its registry.
      const compiled = [...signatures(abi), ...signatures((yield* loadContracts).own("RegistryChanges").abi)]
      for (const signature of signatures(tradeGuardAbi as Abi)) assert.include(compiled, signature)
      const rule = signatures((yield* loadContracts).own("SettlementRule").abi)
      for (const signature of signatures(settlementRuleAbi as Abi)) assert.include(rule, signature)
    })
  )

  it.effect("what is called is what the contract has", () =>
    Effect.gen(function* () {
      const { abi } = (yield* loadContracts).own("WithdrawalExecutor")
      const compiled = signatures(abi)
      for (const signature of signatures(withdrawalExecutorAbi as Abi)) assert.include(compiled, signature)
      assert.strictEqual(
        toFunctionSelector(getAbiItem({ abi: withdrawalExecutorAbi, name: "settle" })),
        toFunctionSelector("settle((string,address,(address,uint256)[],bytes32,uint256),bytes,address,uint256)")
      )
    })
  )
})
