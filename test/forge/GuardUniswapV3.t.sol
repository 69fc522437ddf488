// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {RegistryChanges} from "../../contracts/RegistryChanges.sol";
import {TradeGuard} from "../../contracts/TradeGuard.sol";
import {GuardFixture} from "./GuardFixture.sol";

/// @title Uniswap v3 as it is published, as one more row of the registry
/// @dev Pools and router are the packages' own code; the router is that of v3-periphery, to which SwapRouter02 is a
/// successor that has no deadline.
contract GuardUniswapV3Test is GuardFixture {
    string private constant PACKAGES = "node_modules/@uniswap/";
    uint24 private constant FEE = 3_000;
    /// @dev A whole ETH for 2,500 USD: 4e8 raw units of the one for one of the other.
    uint160 private constant SQRT_PRICE = 20_000 << 96;
    /// @dev Ten million dollars on either side.
    uint128 private constant LIQUIDITY = 2e17;
    uint256 private constant AMOUNT = 1_000e6;

    IV3Router private v3;

    function setUp() public override {
        super.setUp();
        address factory = _deploy("v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json", "");
        v3 = IV3Router(
            _deploy(
                "v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json", abi.encode(factory, address(tokens[1]))
            )
        );
        IV3Pool made = IV3Factory(factory).createPool(address(tokens[0]), address(tokens[1]), FEE);
        made.initialize(SQRT_PRICE);
        made.mint(address(this), -887_220, 887_220, LIQUIDITY, "");
        bytes memory change = abi.encodeCall(RegistryChanges.registerVenue, (_calledWithData(address(v3))));
        vm.prank(ADMINISTRATOR);
        _registry(guard).schedule(change);
        vm.warp(vm.getBlockTimestamp() + 2 days);
        _refreshFeeds();
        vm.prank(ADMINISTRATOR);
        (bool succeeded,) = address(guard).call(change);
        assertTrue(succeeded, "not registered");
    }

    /// @dev The pool asks for what it is given.
    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        tokens[0].mint(msg.sender, amount0);
        tokens[1].mint(msg.sender, amount1);
    }

    function test_aSwapOnARealPoolPaysTheAccount() public {
        _trade(_swapTo(address(guard.RUNNER()), AMOUNT));
        uint256 bought = tokens[1].balanceOf(address(account)) - 10e18;
        // The pool keeps 30 basis points, and moves by one more.
        assertLe(bought, 0.4e18 * 9_970 / 10_000, "too much");
        assertLe(0.4e18 * 9_968 / 10_000, bought, "too little");
        assertEq(tokens[0].balanceOf(address(account)), 25_000e6 - AMOUNT, "sold");
        assertEq(tokens[0].allowance(address(guard.RUNNER()), address(v3)), 0, "allowance");
        assertEq(tokens[1].balanceOf(address(guard.RUNNER())), 0, "left behind");
    }

    function test_whatIsPaidToAThiefIsNotBought() public {
        _refused(_swapTo(THIEF, AMOUNT), TradeGuard.UnfairTrade.selector);
        // The router takes the zero address for itself.
        _refused(_swapTo(address(0), AMOUNT), TradeGuard.UnfairTrade.selector);
    }

    function test_whatTheRouterDoesNotTakeComesBack() public {
        TradeGuard.Trade[] memory trades = _swapTo(address(guard.RUNNER()), AMOUNT / 2);
        trades[0].amount = uint128(AMOUNT);
        _trade(trades);
        assertEq(tokens[0].balanceOf(address(account)), 25_000e6 - AMOUNT / 2, "sold");
    }

    function _swapTo(address recipient, uint256 amount) private view returns (TradeGuard.Trade[] memory trades) {
        IV3Router.ExactInputSingle memory order = IV3Router.ExactInputSingle(
            address(tokens[0]), address(tokens[1]), FEE, recipient, vm.getBlockTimestamp(), amount, 0, 0
        );
        trades = new TradeGuard.Trade[](1);
        bytes memory data = abi.encodeCall(IV3Router.exactInputSingle, (order));
        trades[0] = TradeGuard.Trade(address(v3), 0, 1, uint128(amount), 0, data);
    }

    function _deploy(string memory artifact, bytes memory arguments) private returns (address deployed) {
        bytes memory code = bytes.concat(vm.getCode(string.concat(PACKAGES, artifact)), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(code, 32), mload(code))
        }
        assertTrue(deployed != address(0), artifact);
    }
}

interface IV3Factory {
    function createPool(address tokenA, address tokenB, uint24 fee) external returns (IV3Pool);
}

interface IV3Pool {
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data)
        external
        returns (uint256 amount0, uint256 amount1);
}

interface IV3Router {
    struct ExactInputSingle {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    function exactInputSingle(ExactInputSingle calldata order) external payable returns (uint256 amountOut);
}
