// What a product of two computed tensors takes in rows of lanes is not taken apart, or put together, inside them: the
// pieces are a plain tensor's, and a copy between the two takes whole rows. Where code runs, and of tensors that no such
// product meets, everything stays.
// RUN: %pb-opt %s --target=simnpu --pieces --check | %FileCheck %s
// RUN: %pb-opt %s --target=cpu:v3 --pieces --check | %FileCheck %s --check-prefix=CODE

module attributes {pb.stage = "s2"} {
  func.func @main(%x: memref<8x32xi8> {pb.input = "x"}, %y: memref<8x8xi8> {pb.output = "y"}, %z: memref<8x32xi32> {pb.output = "z"}) {
    // CODE-COUNT-3: memref.alloc
    // CODE-NOT: memref.alloc
    %a = memref.alloc() : memref<8x32xi8>
    %b = memref.alloc() : memref<32x32xi8>
    %c = memref.alloc() : memref<8x32xi8>
    // CHECK: affine.store %{{.*}}, %[[A:alloc.*]][%{{.*}}, %{{.*}}] : memref<8x32xi8>
    affine.for %i = 0 to 8 { affine.for %j = 0 to 32 {
      %0 = affine.load %x[%i, %j] : memref<8x32xi8>
      %1 = arith.constant 5 : i8
      %2 = arith.addi %0, %1 : i8
      affine.store %2, %a[%i, %j] : memref<8x32xi8> } } {pb.nest = "made", pb.part = "point"}
    // CHECK: affine.load %[[A]]
    // CHECK-NEXT: affine.store %{{.*}}, %[[T:alloc.*]][%{{.*}}, %{{.*}}] : memref<8x32xi8>
    // CHECK: affine.load %[[T]][%{{.*}}, %{{.*}} + 8] : memref<8x32xi8>
    // CHECK-NEXT: affine.store %{{.*}}, %arg1[
    affine.for %i = 0 to 8 { affine.for %j = 0 to 8 {
      %0 = affine.load %a[%i, %j + 8] : memref<8x32xi8>
      affine.store %0, %y[%i, %j] : memref<8x8xi8> } } {pb.nest = "taken", pb.part = "copy"}
    // CHECK: affine.load %arg0[
    // CHECK-NEXT: affine.store %{{.*}}, %[[P:alloc.*]][%{{.*}}, %{{.*}}] : memref<32x32xi8>
    // CHECK: affine.store %{{.*}}, %[[P]][%{{.*}} + 8, %{{.*}}] : memref<32x32xi8>
    // CHECK: affine.store %{{.*}}, %[[P]][%{{.*}} + 8, %{{.*}} + 4] : memref<32x32xi8>
    // CHECK: affine.load %[[P]][%{{.*}}, %{{.*}}] : memref<32x32xi8>
    // CHECK-NEXT: affine.store %{{.*}}, %[[B:alloc.*]][%{{.*}}, %{{.*}}] : memref<32x32xi8>
    affine.for %i = 0 to 8 { affine.for %j = 0 to 32 {
      %0 = affine.load %x[%i, %j] : memref<8x32xi8>
      affine.store %0, %b[%i, %j] : memref<32x32xi8> } } {pb.nest = "first", pb.part = "copy"}
    affine.for %k = 0 to 3 { affine.for %i = 0 to 8 { affine.for %j = 0 to 4 {
      %0 = affine.load %x[%i, %j] : memref<8x32xi8>
      affine.store %0, %b[%k * 8 + %i + 8, %j] : memref<32x32xi8> } } } {pb.nest = "second", pb.part = "copy"}
    affine.for %k = 0 to 3 { affine.for %i = 0 to 8 { affine.for %j = 0 to 28 {
      %0 = affine.load %x[%i, %j] : memref<8x32xi8>
      affine.store %0, %b[%k * 8 + %i + 8, %j + 4] : memref<32x32xi8> } } } {pb.nest = "third", pb.part = "copy"}
    // Nothing multiplies this one.
    // CHECK: affine.store %{{.*}}, %[[C:alloc.*]][%{{.*}}, %{{.*}}] : memref<8x32xi8>
    // CHECK: affine.store %{{.*}}, %[[C]][%{{.*}}, %{{.*}} + 8] : memref<8x32xi8>
    affine.for %i = 0 to 8 { affine.for %j = 0 to 8 {
      %0 = affine.load %x[%i, %j] : memref<8x32xi8>
      affine.store %0, %c[%i, %j] : memref<8x32xi8> } } {pb.nest = "fourth", pb.part = "copy"}
    affine.for %i = 0 to 8 { affine.for %j = 0 to 24 {
      %0 = affine.load %x[%i, %j] : memref<8x32xi8>
      affine.store %0, %c[%i, %j + 8] : memref<8x32xi8> } } {pb.nest = "fifth", pb.part = "copy"}
    affine.for %i = 0 to 8 { affine.for %j = 0 to 32 {
      %0 = affine.load %c[%i, %j] : memref<8x32xi8>
      %1 = arith.extsi %0 : i8 to i32
      affine.store %1, %z[%i, %j] : memref<8x32xi32> } } {pb.nest = "sixth", pb.part = "point"}
    // CHECK: affine.load %[[A]]
    // CHECK: affine.load %[[B]]
    // CHECK: arith.muli
    affine.for %i = 0 to 8 { affine.for %j = 0 to 32 { affine.for %k = 0 to 32 {
      %0 = affine.load %a[%i, %k] : memref<8x32xi8>
      %1 = arith.extsi %0 : i8 to i32
      %2 = affine.load %b[%k, %j] : memref<32x32xi8>
      %3 = arith.extsi %2 : i8 to i32
      %4 = arith.muli %1, %3 : i32
      %5 = affine.load %z[%i, %j] : memref<8x32xi32>
      %6 = arith.addi %5, %4 : i32
      affine.store %6, %z[%i, %j] : memref<8x32xi32> } } } {pb.nest = "product", pb.part = "reduce"}
    return
  }
}
