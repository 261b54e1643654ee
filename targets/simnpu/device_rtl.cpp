// The simnpu RTL under Verilator as a pb_device. C++ because Verilator's model is C++. Here stand the clock, the DRAM
// behind the NPU's one memory port, and the doorbell; everything else is the RTL.
#include "Vsimnpu.h"
#include "pb/device.h"
#include "verilated.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <sys/mman.h>

namespace {

enum { QUEUES = 6, FETCHES = 6, LOADS = 2, BEAT = 16, COUNTERS = 2 * QUEUES + 6 };
constexpr uint64_t dram_bytes = uint64_t(1) << 32; // what 32-bit addresses reach; mapped, not reserved
constexpr uint64_t dram_first = 4096;              // so that no buffer has address 0
constexpr uint64_t default_cycle_limit = 2000000000;
enum fault_code { FAULT_OPTION = 1, FAULT_MEMORY, FAULT_ADDRESS, FAULT_HANG, FAULT_ILLEGAL };

const char* const queue_names[QUEUES] = {"L0", "L1", "WX", "MX", "VX", "ST"};
const char* const counter_names[COUNTERS] = {"busy.L0",    "busy.L1",  "busy.WX",       "busy.MX",   "busy.VX",
                                             "busy.ST",    "stall.L0", "stall.L1",      "stall.WX",  "stall.MX",
                                             "stall.VX",   "stall.ST", "cycles",        "dram.read", "dram.write",
                                             "dram.fetch", "mma.rows", "bank.conflicts"};

struct beat {
  uint64_t due;
  uint32_t addr;
  uint8_t tag;
  uint16_t strobe;
  uint8_t data[BEAT];
};

// Requests of one source, oldest first; the capacity covers every credit that the RTL can have out.
struct beat_queue {
  beat ring[4096];
  uint32_t head = 0, tail = 0;
  bool empty() const { return head == tail; }
  bool full() const { return tail - head == 4096; }
  beat& front() { return ring[head & 4095]; }
  beat& push() { return ring[tail++ & 4095]; }
};

struct options {
  uint32_t latency = 0; // cycles from request to data; 0: as the description says
  uint32_t random = 0;  // 1: latencies between a half and twice that, out of order between requesters
  uint32_t stall = 0;   // percent of cycles in which DRAM takes no request
  uint32_t powered = 0; // 1: registers begin with random bits, as those of a chip do; of a model that is built POWERED
  uint64_t seed = 1;
};

} // namespace

struct pb_device {
  VerilatedContext context;
  Vsimnpu* top = nullptr;
  options opt;
  uint64_t random_state = 1;
  uint8_t* dram = nullptr;
  uint64_t allocated = dram_first;
  // Reads of each requester (one queue for all when latency is fixed) and writes.
  beat_queue reads[FETCHES + LOADS], writes;
  uint64_t last_due[FETCHES + LOADS] = {}, last_write_due = 0;
  uint32_t turn = 0;
  uint64_t cycle = 0;
  uint64_t base[COUNTERS] = {}; // counted before the last reset
  bool bad_address = false;
  uint32_t bad_addr = 0;
  pb_submission kernel;
  bool started = false;
  std::string fault = "no fault";
  void (*trace)(void*, uint32_t, uint32_t, uint64_t, uint64_t) = nullptr;
  void* trace_user = nullptr;
  std::deque<uint64_t> start_cycles[QUEUES];
  uint32_t trace_index[QUEUES] = {};
};

namespace {

std::string open_fault = "no fault";

uint64_t next_random(pb_device* d) { // xorshift64*
  d->random_state ^= d->random_state >> 12;
  d->random_state ^= d->random_state << 25;
  d->random_state ^= d->random_state >> 27;
  return d->random_state * 0x2545f4914f6cdd1dull;
}

int fail(pb_device* d, int code, const std::string& text) {
  d->fault = text;
  return code;
}

uint64_t due(pb_device* d, uint64_t* last) {
  uint64_t wait = d->opt.latency;
  if (d->opt.random) wait = wait / 2 + next_random(d) % (wait + wait / 2 + 1);
  uint64_t at = d->cycle + (wait > 2 ? wait - 1 : 1); // the RTL takes a cycle to register what comes
  if (at < *last) at = *last;
  *last = at;
  return at;
}

void accept_request(pb_device* d) {
  Vsimnpu* top = d->top;
  uint32_t addr = top->dram_req_addr & ~uint32_t(BEAT - 1);
  if (uint64_t(addr) < dram_first || uint64_t(addr) >= d->allocated) {
    d->bad_address = true;
    d->bad_addr = top->dram_req_addr;
  }
  if (top->dram_req_write) {
    beat& b = d->writes.push();
    b.due = due(d, &d->last_write_due);
    b.addr = addr;
    b.strobe = uint16_t(top->dram_req_strobe);
    memcpy(b.data, top->dram_req_data.data(), BEAT);
    return;
  }
  uint32_t source = d->opt.random ? top->dram_req_tag : 0;
  beat& b = d->reads[source].push();
  b.due = due(d, &d->last_due[source]);
  b.addr = addr;
  b.tag = uint8_t(top->dram_req_tag);
}

// Memory is read and written when the answer leaves: a program that misses a token then sees stale or early data.
void answer_requests(pb_device* d) {
  Vsimnpu* top = d->top;
  uint32_t sources = d->opt.random ? FETCHES + LOADS : 1;
  top->dram_rsp_valid = 0;
  top->dram_acks = 0;
  for (uint32_t n = 0; n < sources; ++n) {
    uint32_t s = (d->turn + n) % sources;
    beat_queue& q = d->reads[s];
    if (q.empty() || q.front().due > d->cycle) continue;
    top->dram_rsp_valid = 1;
    top->dram_rsp_tag = q.front().tag;
    memcpy(top->dram_rsp_data.data(), d->dram + q.front().addr, BEAT);
    ++q.head;
    d->turn = s + 1;
    break;
  }
  if (!d->writes.empty() && d->writes.front().due <= d->cycle) {
    const beat& b = d->writes.front();
    if (b.strobe == 0xffff)
      memcpy(d->dram + b.addr, b.data, BEAT);
    else
      for (int n = 0; n < BEAT; ++n)
        if (b.strobe >> n & 1) d->dram[b.addr + n] = b.data[n];
    ++d->writes.head;
    top->dram_acks = 1;
  }
}

void step(pb_device* d) {
  Vsimnpu* top = d->top;
  answer_requests(d);
  top->dram_req_ready = d->opt.stall == 0 || next_random(d) % 100 >= d->opt.stall;
  top->clk = 0;
  top->eval();
  if (top->dram_req_valid && top->dram_req_ready) accept_request(d);
  if (d->trace && (top->started | top->completed))
    for (int q = 0; q < QUEUES; ++q) {
      if (top->started >> q & 1) d->start_cycles[q].push_back(d->cycle);
      if (top->completed >> q & 1) {
        d->trace(d->trace_user, q, d->trace_index[q]++, d->start_cycles[q].front(), d->cycle);
        d->start_cycles[q].pop_front();
      }
    }
  top->clk = 1;
  top->eval();
  ++d->cycle;
}

void reset(pb_device* d) {
  for (int n = 0; n < COUNTERS; ++n) d->base[n] += d->top->counters[n];
  for (beat_queue& q : d->reads) q.head = q.tail = 0;
  d->writes.head = d->writes.tail = 0;
  d->top->rst = 1;
  d->top->start = 0;
  for (int n = 0; n < 4; ++n) {
    d->top->clk = 0;
    d->top->eval();
    d->top->clk = 1;
    d->top->eval();
  }
  d->top->rst = 0;
}

std::string queue_states(pb_device* d) {
  std::string text;
  char line[256];
  for (int q = 0; q < QUEUES; ++q) {
    uint32_t done = d->top->commands_completed[q], begun = d->top->commands_started[q];
    if (d->top->finished >> q & 1) continue;
    snprintf(line, sizeof line, "; %s: %u commands completed, ", queue_names[q], done);
    text += line;
    if (begun > done) {
      snprintf(line, sizeof line, "command %u is running", begun - 1);
      text += line;
    } else if (d->top->waiting_for[q] == 0) {
      snprintf(line, sizeof line, "command %u is being fetched", begun);
      text += line;
    }
    if (d->top->waiting_for[q]) {
      snprintf(line, sizeof line, "%scommand %u waits for", begun > done ? ", " : "", begun);
      text += line;
      for (int p = 0; p < QUEUES; ++p)
        if (d->top->waiting_for[q] >> p & 1) text += std::string(" ") + queue_names[p];
    }
  }
  return text;
}

bool parse_options(const char* text, options* opt, std::string* bad) {
  std::string all = text ? text : "";
  for (size_t at = 0; at < all.size();) {
    size_t end = all.find(',', at);
    if (end == std::string::npos) end = all.size();
    std::string item = all.substr(at, end - at);
    at = end + 1;
    if (item.empty()) continue;
    size_t eq = item.find('=');
    char* rest = nullptr;
    uint64_t value = eq == std::string::npos ? 0 : strtoull(item.c_str() + eq + 1, &rest, 10);
    bool number = rest && *rest == 0 && rest != item.c_str() + eq + 1;
    std::string key = item.substr(0, eq);
    if (number && key == "latency" && value >= 1 && value <= 1000)
      opt->latency = uint32_t(value);
    else if (number && key == "random" && value <= 1)
      opt->random = uint32_t(value);
    else if (number && key == "stall" && value <= 95)
      opt->stall = uint32_t(value);
    else if (number && key == "powered" && value <= PB_RTL_POWERED)
      opt->powered = uint32_t(value);
    else if (number && key == "seed")
      opt->seed = value;
    else {
      *bad = item;
      return false;
    }
  }
  return true;
}

void device_close(pb_device* d) {
  if (d->dram) munmap(d->dram, dram_bytes);
  delete d->top;
  delete d;
}

int device_open(const char* text, pb_device** out) {
  options opt;
  std::string bad;
  *out = nullptr;
  if (!parse_options(text, &opt, &bad)) {
    open_fault = "bad option '" + bad +
                 "'; known: latency=1..1000, random=0|1, stall=0..95 (percent), powered=0|1 (1: of the model of 8 "
                 "lanes), seed=N";
    return FAULT_OPTION;
  }
  pb_device* d = new pb_device;
  d->opt = opt;
  d->random_state = opt.seed * 0x9e3779b97f4a7c15ull | 1;
  void* map = mmap(nullptr, dram_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    delete d;
    open_fault = "no address space for DRAM";
    return FAULT_MEMORY;
  }
  d->dram = static_cast<uint8_t*>(map);
  d->context.randReset(opt.powered ? 2 : 0);
  if (opt.powered) d->context.randSeed(int(opt.seed % 0x7fffffff) + 1);
  d->top = new Vsimnpu(&d->context);
  for (int q = 0; q < QUEUES; ++q) d->top->stream_count[q] = 0;
  reset(d);
  for (uint64_t& base : d->base) base = 0; // what counters held when they were powered, nobody counted
  if (d->opt.latency == 0) d->opt.latency = d->top->dram_latency;
  *out = d;
  return 0;
}

int device_alloc(pb_device* d, uint64_t bytes, uint64_t align, uint64_t* address) {
  if (align < BEAT) align = BEAT;
  if (align & (align - 1)) return fail(d, FAULT_MEMORY, "alignment is not a power of two");
  uint64_t at = (d->allocated + align - 1) & ~(align - 1);
  if (at > dram_bytes || bytes > dram_bytes - at) return fail(d, FAULT_MEMORY, "device memory is full");
  *address = at;
  d->allocated = (at + bytes + BEAT - 1) & ~uint64_t(BEAT - 1);
  return 0;
}

int device_free_all(pb_device* d) {
  madvise(d->dram, d->allocated, MADV_DONTNEED);
  d->allocated = dram_first;
  return 0;
}

bool within(pb_device* d, uint64_t address, uint64_t bytes) {
  return address >= dram_first && address <= d->allocated && bytes <= d->allocated - address;
}

int device_copy_in(pb_device* d, uint64_t address, const void* data, uint64_t bytes) {
  if (!within(d, address, bytes)) return fail(d, FAULT_ADDRESS, "copy to memory that is not allocated");
  memcpy(d->dram + address, data, bytes);
  return 0;
}

int device_copy_out(pb_device* d, uint64_t address, void* data, uint64_t bytes) {
  if (!within(d, address, bytes)) return fail(d, FAULT_ADDRESS, "copy from memory that is not allocated");
  memcpy(data, d->dram + address, bytes);
  return 0;
}

int device_submit(pb_device* d, const pb_submission* kernel) {
  if (d->started) return fail(d, FAULT_ILLEGAL, "a kernel is running already");
  if (kernel->queue_count > QUEUES || kernel->arg_count > PB_DEVICE_MAX_ARGS)
    return fail(d, FAULT_ILLEGAL, "more queues or arguments than the device has");
  d->kernel = *kernel;
  for (uint32_t q = 0; q < QUEUES; ++q) {
    bool used = q < kernel->queue_count;
    d->top->stream_base[q] = used ? uint32_t(kernel->stream[q]) : 0;
    d->top->stream_count[q] = used ? kernel->count[q] : 0;
    d->start_cycles[q].clear();
    d->trace_index[q] = 0;
  }
  for (uint32_t n = 0; n < PB_DEVICE_MAX_ARGS; ++n)
    d->top->args[n] = n < kernel->arg_count ? uint32_t(kernel->args[n]) : 0;
  d->started = true;
  return 0;
}

int device_wait(pb_device* d) {
  if (!d->started) return fail(d, FAULT_ILLEGAL, "no kernel was submitted");
  d->started = false;
  uint64_t limit = d->kernel.cycle_limit ? d->kernel.cycle_limit : default_cycle_limit, from = d->cycle;
  d->bad_address = false;
  d->top->start = 1;
  step(d);
  d->top->start = 0;
  int code = 0;
  for (;;) {
    step(d);
    if (d->top->done) return 0;
    if (d->top->illegal) {
      int q = __builtin_ctz(d->top->illegal);
      char text[128];
      snprintf(text, sizeof text, "command %u of queue %s is not an instruction of that queue",
               d->top->commands_started[q], queue_names[q]);
      code = fail(d, FAULT_ILLEGAL, text);
    } else if (d->bad_address) {
      char text[128];
      snprintf(text, sizeof text, "access to DRAM address 0x%x, which is not allocated", d->bad_addr);
      code = fail(d, FAULT_ADDRESS, text + queue_states(d));
    } else if (d->cycle - from >= limit) {
      char text[64];
      snprintf(text, sizeof text, "not done after %llu cycles", static_cast<unsigned long long>(limit));
      code = fail(d, FAULT_HANG, text + queue_states(d));
    }
    if (code) {
      reset(d);
      return code;
    }
  }
}

const char* device_counter_name(pb_device*, uint32_t index) {
  return index < COUNTERS ? counter_names[index] : nullptr;
}
uint64_t device_counter(pb_device* d, uint32_t index) {
  return index < COUNTERS ? d->base[index] + d->top->counters[index] : 0;
}
const char* device_last_fault(pb_device* d) { return d ? d->fault.c_str() : open_fault.c_str(); }
void device_set_trace(pb_device* d, void (*event)(void*, uint32_t, uint32_t, uint64_t, uint64_t), void* user) {
  d->trace = event;
  d->trace_user = user;
}

// What is not named is what it does not have: constants apart, grids, streams.
const pb_device_ops ops = [] {
  pb_device_ops has = {};
  has.abi = PB_DEVICE_ABI;
  has.name = "simnpu-rtl";
  has.open = device_open;
  has.close = device_close;
  has.alloc = device_alloc;
  has.free_all = device_free_all;
  has.copy_in = device_copy_in;
  has.copy_out = device_copy_out;
  has.submit = device_submit;
  has.wait = device_wait;
  has.counter_name = device_counter_name;
  has.counter = device_counter;
  has.last_fault = device_last_fault;
  has.set_trace = device_set_trace;
  return has;
}();

} // namespace

extern "C" __attribute__((visibility("default"))) const pb_device_ops* pb_device_entry(void) { return &ops; }
double sc_time_stamp() { return 0; }
