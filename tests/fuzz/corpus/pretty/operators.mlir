#note = "a text"
module @every_operator attributes {mhlo.num_partitions = 1 : i32, mhlo.note = #note} {
  sdy.mesh @mesh = <["x"=2]> {mhlo.note = 1 : i32}
  func.func @unary(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %c: tensor<2x3xcomplex<f32>>) {
    %1 = stablehlo.abs %x : tensor<2x3xf32>
    %2 = stablehlo.cbrt %x : tensor<2x3xf32>
    %3 = stablehlo.ceil %x : tensor<2x3xf32>
    %4 = stablehlo.cosine %x : tensor<2x3xf32>
    %5 = stablehlo.exponential %x : tensor<2x3xf32>
    %6 = stablehlo.exponential_minus_one %x : tensor<2x3xf32>
    %7 = stablehlo.floor %x : tensor<2x3xf32>
    %8 = stablehlo.log %x : tensor<2x3xf32>
    %9 = stablehlo.log_plus_one %x : tensor<2x3xf32>
    %10 = stablehlo.logistic %x : tensor<2x3xf32>
    %11 = stablehlo.negate %x : tensor<2x3xf32>
    %12 = stablehlo.round_nearest_afz %x : tensor<2x3xf32>
    %13 = stablehlo.round_nearest_even %x : tensor<2x3xf32>
    %14 = stablehlo.rsqrt %x : tensor<2x3xf32>
    %15 = stablehlo.sign %x : tensor<2x3xf32>
    %16 = stablehlo.sine %x : tensor<2x3xf32>
    %17 = stablehlo.sqrt %x : tensor<2x3xf32>
    %18 = stablehlo.tan %x : tensor<2x3xf32>
    %19 = stablehlo.tanh %x : tensor<2x3xf32>
    %20 = stablehlo.abs %c : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %21 = stablehlo.real %c : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %22 = stablehlo.imag %c : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    %23 = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %24 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %25 = stablehlo.convert %x : tensor<2x3xf32>
    %26 = stablehlo.exponential %x {mhlo.note = "a: {", result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
    %27 = stablehlo.count_leading_zeros %i : tensor<2x3xi32>
    %28 = stablehlo.not %i : tensor<2x3xi32>
    %29 = stablehlo.popcnt %i : tensor<2x3xi32>
    return
  }
  func.func @binary(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<2x3xi32>, %b: tensor<2x3xi1>, %p: tensor<i1>) {
    %1 = stablehlo.add %x, %y : tensor<2x3xf32>
    %2 = stablehlo.atan2 %x, %y : tensor<2x3xf32>
    %3 = stablehlo.divide %x, %y : tensor<2x3xf32>
    %4 = stablehlo.maximum %x, %y : tensor<2x3xf32>
    %5 = stablehlo.minimum %x, %y : tensor<2x3xf32>
    %6 = stablehlo.multiply %x, %y : tensor<2x3xf32>
    %7 = stablehlo.power %x, %y : tensor<2x3xf32>
    %8 = stablehlo.remainder %x, %y : tensor<2x3xf32>
    %9 = stablehlo.subtract %x, %y : tensor<2x3xf32>
    %10 = stablehlo.and %i, %i : tensor<2x3xi32>
    %11 = stablehlo.or %i, %i : tensor<2x3xi32>
    %12 = stablehlo.xor %i, %i : tensor<2x3xi32>
    %13 = stablehlo.shift_left %i, %i : tensor<2x3xi32>
    %14 = stablehlo.shift_right_arithmetic %i, %i : tensor<2x3xi32>
    %15 = stablehlo.shift_right_logical %i, %i : tensor<2x3xi32>
    %16 = stablehlo.complex %x, %y : tensor<2x3xcomplex<f32>>
    %17 = stablehlo.clamp %x, %y, %x : tensor<2x3xf32>
    %18 = stablehlo.clamp %s, %y, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %19 = stablehlo.select %b, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
    %20 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<2x3xf32>
    %21 = stablehlo.compare LT, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %22 = stablehlo.compare EQ, %x, %y, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %23 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
    return
  }
  func.func @movement(%x: tensor<2x3xf32>, %s: tensor<f32>, %k: tensor<i32>, %z: tensor<2x3xcomplex<f32>>, %m: tensor<3x3xf32>) {
    %1 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [-4.0, 5.5E+1, 0x7FC00000]]> : tensor<2x3xf32>
    %2 = stablehlo.constant {mhlo.note = 1 : i32} dense<true> : tensor<i1>
    %3 = stablehlo.constant dense<"0x0100000002000000"> : tensor<2xi32>
    %4 = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f64>>
    %5 = stablehlo.iota dim = 1 : tensor<2x3xf32>
    %6 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %7 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
    %8 = stablehlo.broadcast %x, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
    %9 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
    %10 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %11 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
    %12 = stablehlo.slice %x [0:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
    %13 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
    %14 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %15 = stablehlo.concatenate %x, dim = 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %16 = stablehlo.pad %x, %s, low = [0, -1], high = [1, 1], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>
    %17 = stablehlo.dynamic_slice %x, %k, %k, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %18 = stablehlo.dynamic_slice %s, sizes = [] : (tensor<f32>) -> tensor<f32>
    %19 = stablehlo.dynamic_update_slice %x, %x, %k, %k : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %20 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
    %21 = stablehlo.fft %z, type = FFT, length = [3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
    %22 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
    %23 = stablehlo.set_dimension_size %x, %k, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
    %24 = stablehlo.cholesky %m : tensor<3x3xf32>
    %25 = stablehlo.cholesky %m, lower = true : tensor<3x3xf32>
    return
  }
  func.func @products(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %v: tensor<2x3xf32>, %i: tensor<1x8x8x2xf32>, %q: tensor<3x3x2x4xf32>) {
    %1 = stablehlo.dot %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.dot %x, %w, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %4 = stablehlo.dot_general %x, %w, contracting_dims = [] x [] {mhlo.note = 1 : i32} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
    %5 = stablehlo.dot_general %x, %v, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %6 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.convolution(%i, %q) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 1], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x7x4xf32>
    %9 = stablehlo.convolution(%i, %q) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
    %10 = stablehlo.einsum %x, %w, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %11 = stablehlo.unary_einsum %x, config = "ab->a" : (tensor<2x3xf32>) -> tensor<2xf32>
    return
  }
  func.func @reductions(%x: tensor<2x3xf32>, %s: tensor<f32>, %k: tensor<2x3xi32>, %e: tensor<i32>, %c: tensor<?x3xcomplex<f64>>, %d: tensor<complex<f64>>) {
    %1 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.reduce(%x init: %s) applies stablehlo.maximum across dimensions = [0, 1] {mhlo.note = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.reduce(%c init: %d) applies stablehlo.multiply across dimensions = [] : (tensor<?x3xcomplex<f64>>, tensor<complex<f64>>) -> tensor<?x3xcomplex<f64>>
    %4:2 = stablehlo.reduce(%x init: %s), (%k init: %e) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%f: tensor<i32>, %g: tensor<i32>)  {
      %9 = stablehlo.maximum %a, %b : tensor<f32>
      %10 = stablehlo.add %f, %g : tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    %5 = "stablehlo.reduce_window"(%x, %s) <{padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %9 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %6 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %9 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
  func.func @control(%x: tensor<2x3xf32> {jax.arg_info = "x"}, %k: tensor<i32>, %n: tensor<i32>, %p: tensor<i1>, %s: tensor<f32>, %q: tensor<2xi64>, %u: tensor<2xui64> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<2x3xf32> {jax.result_info = "y"}, tensor<i1>) attributes {mhlo.note = 1 : i32} {
    %1:2 = stablehlo.while(%i = %k, %a = %x) : tensor<i32>, tensor<2x3xf32> attributes {mhlo.note = 1 : i32}
    cond {
      %9 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = stablehlo.add %i, %i : tensor<i32>
      %10 = func.call @scaled(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      stablehlo.return %9, %10 : tensor<i32>, tensor<2x3xf32>
    }
    %2 = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<2x3xf32>
    }, {
      stablehlo.return %1#1 : tensor<2x3xf32>
    }) : (tensor<i1>) -> tensor<2x3xf32>
    %3 = call @scaled(%2) {mhlo.note = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    call @nothing() : () -> ()
    %4 = stablehlo.composite "pb.scaled" %3 {composite_attributes = {n = 1 : i32}, decomposition = @scaled} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.custom_call @Sharding(%4) {backend_config = ""} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6 = stablehlo.custom_call @"two words"() {api_version = 2 : i32, has_side_effect = true} : () -> tensor<f32>
    %7:2 = stablehlo.optimization_barrier %4, %p : tensor<2x3xf32>, tensor<i1>
    stablehlo.optimization_barrier()
    %8 = stablehlo.tuple %4, %p : tuple<tensor<2x3xf32>, tensor<i1>>
    %9 = stablehlo.get_tuple_element %8[1] : (tuple<tensor<2x3xf32>, tensor<i1>>) -> tensor<i1>
    %10 = stablehlo.create_token : !stablehlo.token
    %11 = stablehlo.after_all %10, %10 : !stablehlo.token
    %12 = stablehlo.partition_id : tensor<ui32>
    %13 = stablehlo.replica_id : tensor<ui32>
    %14 = stablehlo.rng %s, %s, %q, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %15:2 = stablehlo.rng_bit_generator %u, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    return %4, %9 : tensor<2x3xf32>, tensor<i1>
  }
  func.func private @scaled(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.add %x, %x : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @nothing() {
    return
  }
  func.func private @declared(tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.func @open(%x: tensor<?x3xf32>, %n: tensor<2xi64>, %s: tensor<f32>) {
    %1 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
    %2 = stablehlo.dynamic_reshape %x, %n : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %3 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
    %4 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<?x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %5 = stablehlo.dynamic_pad %x, %s, %n, %n, %n : (tensor<?x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %6 = stablehlo.add %x, %x : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x?xf32>
    return
  }
  func.func @chlo(%x: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<2x3xi32>, %k: tensor<i32>, %b: tensor<2x3xi1>, %v: tensor<3xf32>) {
    %1 = chlo.acos %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %2 = chlo.acosh %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %3 = chlo.asin %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %4 = chlo.asinh %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %5 = chlo.atan %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %6 = chlo.atanh %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %7 = chlo.bessel_i1e %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %8 = chlo.conj %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %9 = chlo.cosh %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %10 = chlo.digamma %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %11 = chlo.erf %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %12 = chlo.erf_inv %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %13 = chlo.erfc %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %14 = chlo.lgamma %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %15 = chlo.sinh %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %16 = chlo.square %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %17 = chlo.tan %x : tensor<2x3xf32> -> tensor<2x3xf32>
    %18 = chlo.is_inf %x : tensor<2x3xf32> -> tensor<2x3xi1>
    %19 = chlo.is_neg_inf %x : tensor<2x3xf32> -> tensor<2x3xi1>
    %20 = chlo.is_pos_inf %x : tensor<2x3xf32> -> tensor<2x3xi1>
    %21 = chlo.next_after %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    %22 = chlo.polygamma %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    %23 = chlo.zeta %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    %24 = chlo.mulhi %i, %i : tensor<2x3xi32>, tensor<2x3xi32> -> tensor<2x3xi32>
    %25 = chlo.broadcast_add %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %26 = chlo.broadcast_atan2 %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %27 = chlo.broadcast_divide %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %28 = chlo.broadcast_maximum %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %29 = chlo.broadcast_minimum %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %30 = chlo.broadcast_multiply %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %31 = chlo.broadcast_next_after %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %32 = chlo.broadcast_polygamma %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %33 = chlo.broadcast_power %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %34 = chlo.broadcast_remainder %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %35 = chlo.broadcast_subtract %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %36 = chlo.broadcast_zeta %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %37 = chlo.broadcast_and %i, %k {broadcast_dimensions = array<i64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %38 = chlo.broadcast_or %i, %k {broadcast_dimensions = array<i64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %39 = chlo.broadcast_xor %i, %k {broadcast_dimensions = array<i64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %40 = chlo.broadcast_shift_left %i, %k {broadcast_dimensions = array<i64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %41 = chlo.broadcast_shift_right_arithmetic %i, %k {broadcast_dimensions = array<i64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %42 = chlo.broadcast_shift_right_logical %i, %k {broadcast_dimensions = array<i64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
    %43 = chlo.broadcast_complex %x, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xcomplex<f32>>
    %44 = chlo.broadcast_compare %x, %s {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
    %45 = chlo.broadcast_select %b, %x, %s : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %46:2 = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %47 = chlo.constant dense<1.0> : tensor<f32>
    %48:2 = chlo.scan (%x) inits (%v) dimension=0 {
    ^bb0(%a: tensor<3xf32>, %c: tensor<3xf32>):
      %99 = stablehlo.add %a, %c : tensor<3xf32>
      stablehlo.return %99, %99 : tensor<3xf32>, tensor<3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
    return
  }
  func.func @several(%x: tensor<8xf32>) {
    %1 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<8xf32>
    %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<8xf32>
    sdy.sharding_group %3 group_id=3 : tensor<8xf32>
    return
  }
}
