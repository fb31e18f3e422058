var J,qn,Pr,Oe,Qt,wt,Un,vt,Hn,Xt,Yt,jr,st=Symbol.for("pv"),kt={},Et=[],Fr=/^m(i|n|o|s|text|space)$/,Zt=Array.isArray,en=Et.slice,Ke=Object.assign;function Be(e){e&&e.parentNode&&e.remove()}function Wn(e,t,n){var o,r,s,i={},l=arguments.length;for(s in t)s=="key"?o=t[s]:s=="ref"&&typeof e!="function"?r=t[s]:i[s]=t[s];return l>2&&(i.children=l>3?en.call(arguments,2):n),rt(e,i,o,r,null)}function rt(e,t,n,o,r){var s={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:st,__v:r||++qn,__i:-1,__u:0};return!r&&J.vnode&&J.vnode(s),s}function xt(e){return e.children}function Xe(e,t){this.props=e,this.context=t,this.__g=0}function Ae(e,t){if(t==null)return e.__&&Ae(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Ae(e)}function qr(e){var t,n=e.__v,o=n.__e,r=[],s=[],i=e.__P;i&&((t=Ke({constructor:st},n)).__v=n.__v+1,J.vnode&&J.vnode(t),tn(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,r,o||Ae(n),32&n.__u,s),t.__v=n.__v,t.__.__k[t.__i]=t,Gn(r,t,s),n.__=n.__e=null,t.__e!=o&&Bn(t))}function Bn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Bn(e)}function jn(e){(8&e.__g||(e.__g|=8,Oe.push(e),wt++))&&Qt==J.debounceRendering||((Qt=J.debounceRendering)||queueMicrotask)(Kn)}function Kn(){try{for(var e,t=1;Oe.length;)Oe.length>t&&Oe.sort(Un),e=Oe.shift(),t=Oe.length,8&e.__g&&qr(e)}finally{(wt=Oe.length)&&(Qt||queueMicrotask)(Kn)}}function zn(e,t,n,o,r,s,i,l,u,d,c){var $,m,p,f,_,h,w=o.__k||Et,y=t.length;for(u=Ur(n,t,w,u,y),$=0;$<y;$++)(p=n.__k[$])!=null&&(m=~p.__i&&w[p.__i]||kt,p.__i=$,h=tn(e,p,m,r,s,i,l,u,d,c),f=p.__e,(m.ref!=p.ref||8&m.__u)&&(m.ref&&nn(m.ref,null,p,m),p.ref&&c.push(p.ref,p.__c||f,p)),_=_||f,4&p.__u?(u=Vn(p,u,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="function"&&h!==void 0?u=h:f&&(u=f.nextSibling),p.__u&=-21);return n.__e=_,u}function Ur(e,t,n,o,r){var s,i,l,u,d,c,$,m,p,f=n.length,_=f,h=0,w=0,y=e.__k=Array(r);for(s=0;s<r;s++)(i=t[s])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[s]=rt(null,i):Zt(i)?i=y[s]=rt(xt,{children:i}):i.constructor===st&&i.__b?i=y[s]=rt(i.type,i.props,i.key,i.ref,i.__v):y[s]=i,u=s+h,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=Hr(i,n,u,_))&&(_--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?h--:d==u+1?h++:d!=u&&(d>u?h--:h++,w=1)):(~d||(r>f?h--:r<f&&h++),typeof i.type!="function"&&(i.__u|=4))):y[s]=null;if(w){for(c=[],$=[],s=0;s<r;s++)if((i=y[s])&&16&i.__u){for(h=0,m=c.length;h<m;)c[p=h+m>>1]<i.__i?h=p+1:m=p;c[h]=i.__i,$[s]=h+1}for(h=c.length;s--;)$[s]&&($[s]==h?h--:y[s].__u|=4)}if(_)for(s=0;s<f;s++)!(l=n[s])||2&l.__u||(l.__e==o&&(o=Ae(l)),on(l,l));return o}function Vn(e,t,n,o){var r,s,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(r=e.__k)for(s=0;s<r.length;s++)r[s]&&(r[s].__=e,t=Vn(r[s],t,n,!1));return t}for(t&&!t.parentNode&&(t=Ae(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Hr(e,t,n,o){var r,s=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&s==null||u&&s==l.key&&i==l.type)return n;if(o>(u?1:0)){for(r=n-1;r>=0;r--)if((l=t[r])&&!(2&l.__u)&&s==l.key&&i==l.type)return r;for(r=n+1;r<t.length;r++)if((l=t[r])&&!(2&l.__u)&&s==l.key&&i==l.type)return r}return-1}function Fn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function bt(e,t,n,o,r){var s,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Fn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Fn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Yt[t]||(Yt[t]=Wr(t)),(e.__a||(e.__a={}))[t]=Xt,s=t!=(t=t.replace(Hn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,s):e.removeEventListener(t,i,s));else{if(r=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Wr(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[vt]==null)t[vt]=Xt++;else if(t[vt]<this.__a[e])return;return n(J.event?J.event(t):t)}}}function tn(e,t,n,o,r,s,i,l,u,d){var c,$,m,p,f,_,h,w,y,S,A,k,D,F,Q,U,q,K,ne=t.type;if(t.constructor!==st)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,$=s=[],c.nodeType==8?l=yt(c,s):s.push(c),l=s[0]||l),(c=J.__b)&&c(t);e:if(typeof ne=="function"){m=i.length;try{if(w=t.props,y=(c=ne.prototype)&&c.render,S=(c=ne.contextType)&&o[c.__c],A=c?S?S.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(y?t.__c=p=new ne(w,A):(t.__c=p=new Xe(w,A),p.constructor=ne,p.render=Kr),S&&S.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),y&&(p.__s||(p.__s=p.state),ne.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ke({},p.__s)),Ke(p.__s,ne.getDerivedStateFromProps(w,p.__s)))),f=p.props,_=p.state,p.__v=t,n.__c){if(w!==f&&y&&!ne.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(w,A),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(w,p.__s,A)===!1){t.__v!=n.__v&&(p.props=w,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(b){b&&(b.__=t)}),Et.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Ae(n);break e}p.componentWillUpdate&&p.componentWillUpdate(w,p.__s,A),y&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(f,_,h)})}else y&&!ne.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),y&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=A,p.props=w,p.__P=e,p.__g&=-5,k=J.__r,D=y?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++D<25);y&&(Et.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Ke({},o,p.getChildContext())),y&&n.__c&&p.getSnapshotBeforeUpdate&&(h=p.getSnapshotBeforeUpdate(f,_)),F=c&&c.type===xt&&c.key==null?c.props.children:c,w.__P&&(c=l,r=(e=w.__P).namespaceURI,u=s=null,n.props&&n.props.__P!=e&&(n.__k.some(function(b){b&&on(b,b)}),n.__k=null),l=n.__k?Ae(n,0):null),l=zn(e,Zt(F)?F:[F],t,n,o,r,s,i,l,u,d),w.__P&&(t.__e=null,l=c),t.__u&=-161,$&&$.some(Be),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(b){if(i.length=m,t.__v=null,u||s)if(b&&b.then){if(t.__u|=128|u,s){for(~(q=s.indexOf(l||void 0))||(q=s.length);(K=s[q-1])&&K.nodeType==8;)q--;for(;q<s.length;q++)if(K=s[q])if(s[q]=null,Q){if(K==U)break}else{if(K.nodeType!=8)break;K.data.startsWith("$s")&&(U=yt(Q=K))}}if(!Q){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Q=l}(c=yt(Q=t.__c.__z||(t.__c.__z=Q)))?(t.__e=Q,l=c):t.__e=l,l=l&&l.nextSibling}else s&&s.some(Be);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),b&&b.then||Jn(t),J.__e(b,t,n)}}else l=t.__e=Br(n.__e,t,n,o,r,s,i,u,d,e);return(c=J.diffed)&&c(t),l}function yt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Jn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Jn))}function Gn(e,t,n){for(var o=0;o<n.length;)nn(n[o++],n[o++],n[o++]);J.__c&&J.__c(t,e),e.some(function(r){try{e=r.__h,r.__h=[],e.some(function(s){s.call(r)})}catch(s){J.__e(s,r.__v)}})}function Br(e,t,n,o,r,s,i,l,u,d){var c,$,m,p,f,_,h,w,y=n.props||kt,S=t.props,A=t.type;if(A=="svg"?r="http://www.w3.org/2000/svg":A=="math"?r="http://www.w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),s){for(c=0;c<s.length;c++)if((f=s[c])&&(A?f.localName==A:f.nodeType==3)){e=f,s[c]=null;break}}if(!e){if(w=d.ownerDocument||document,!A)return w.createTextNode(S);e=w.createElementNS(r,A,S.is?S:d),l&&(J.__m&&J.__m(t,s),l=!1),s=null}if(A){if(d=A=="template"&&e.content||e,s=A=="textarea"&&S.defaultValue!=null?null:s&&en.call(d.childNodes),!l&&s)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?m=f:c=="children"||c in S||c=="value"&&"defaultValue"in S||c=="checked"&&"defaultChecked"in S||bt(e,c,null,f,r);for(c in S)f=S[c],c=="children"?p=f:c=="dangerouslySetInnerHTML"?$=f:c=="value"?_=f:c=="checked"?h=f:l&&typeof f!="function"||y[c]===f||bt(e,c,f,y[c],r);$?(l||m&&($.__html==m.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(m&&(e.textContent=""),(A=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Fr.test(A))&&(r="http://www.w3.org/1999/xhtml"),zn(d,Zt(p)?p:[p],t,n,o,r,s,i,s?s[0]:n.__k&&Ae(n,0),l,u),s&&s.some(Be)),l&&A!="textarea"||(c="value",A=="progress"&&_==null?e.removeAttribute(c):_==null||_===e[c]&&(A!="progress"||_)||bt(e,c,_,y[c],r),c="checked",h!=null&&h!=e[c]&&bt(e,c,h,y[c],r))}else y===S||l&&e.data==S||(e.data=S);return e}function nn(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(r){J.__e(r,n)}}function on(e,t,n){var o,r,s,i;if(J.unmount&&J.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||nn(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){J.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&on(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(r=yt(o,s=[]))&&(o==e.__e&&s.some(Be),Be(r),Be(o)),n||Be(e.__e),e.__e=e.__c=e.__=null}function Kr(e,t,n){return this.constructor(e,n)}function Qn(e,t){var n,o,r,s;J.__&&J.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=rt(xt,{children:[e]}),r=[],s=[],tn(t,t.__k,o||kt,kt,t.namespaceURI,o?null:t.firstChild?en.call(t.childNodes):null,r,o?o.__e:t.firstChild,n,s),Gn(r,t.__k,s),t.__k.props.children=null}J={__e:function(e,t,n,o){for(var r,s,i;t=t.__;)if((r=t.__c)&&!(1&r.__g)){r.__g|=4;try{if((i=(s=r.constructor)&&s.getDerivedStateFromError)&&r.setState(s.getDerivedStateFromError(e)),r.componentDidCatch&&(r.componentDidCatch(e,o||{}),i=1),i&&8&r.__g)return void(r.__g|=2)}catch(l){e=l}}throw wt=0,e}},qn=0,Pr=function(e){return e!=null&&e.constructor===st},Xe.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ke({},this.state)),typeof e=="function"&&(e=e(Ke({},n),this.props)),e&&(Ke(n,e),this.__v&&(t&&this.__k.push(t),jn(this)))},Xe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),jn(this))},Xe.prototype.render=xt,Oe=[],wt=0,Un=function(e,t){return e.__v.__b-t.__v.__b},vt=Symbol(),Hn=/(PointerCapture)$|Capture$/i,Xt=0,Yt={},jr=0;var ze,te,rn,Yn,sn=Object.is,Tt=0,ao=[],an=[],ee=J,Xn=ee.__b,Zn=ee.__r,eo=ee.diffed,to=ee.__c,no=ee.unmount,oo=ee.__;function it(e,t){ee.__h&&ee.__h(te,e,Tt||t),Tt=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function g(e){return Tt=1,zr(io,e)}function zr(e,t,n){var o=it(ze++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):io(void 0,t),function(s){var i=(o.__N||o.__)[0],l=o.t(i,s);sn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var r=te.shouldComponentUpdate;te.shouldComponentUpdate=function(s,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=s;if(u.__.some(function(m){m.__N&&(d=!0,sn(m.__[0],m.__N[0])||(c=!0))}),r){var $=r.call(this,s,i,l);return d?$||c:$}return!d||c}}return o.__}function T(e,t){var n=it(ze++,3);!ee.__s&&cn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function lt(e,t){var n=it(ze++,4);!ee.__s&&cn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function Y(e){return Tt=5,ce(function(){return{current:e}},[])}function ce(e,t){var n=it(ze++,7);return cn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function ct(){var e=it(ze++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Vr(){var e;do{for(;e=an.shift();)try{at(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=ao.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(at),t.__h.some(ln),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(an.length)}ee.__b=function(e){te=null,Xn&&Xn(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),oo&&oo(e,t)},ee.__r=function(e){Zn&&Zn(e),ze=0;var t=(te=e.__c).__H;t&&(rn==te?te.__h=[]:(t.__h.some(at),t.__h.some(ln),ze=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),rn=te},ee.diffed=function(e){eo&&eo(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&so(ao.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),rn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(at),n.__h=n.__h.filter(function(o){return!o.__||ln(o)})}catch(o){n.__h=[function(){throw o}]}}),to&&to(e,t)},ee.unmount=function(e){no&&no(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,so(an.push(r))}else at(r)}catch(s){t=s}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var ro=typeof requestAnimationFrame=="function";function Jr(e){var t,n=function(){clearTimeout(o),ro&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);ro&&(t=requestAnimationFrame(n))}function so(e){e!=1&&Yn==ee.requestAnimationFrame||((Yn=ee.requestAnimationFrame)||Jr)(Vr)}function at(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function ln(e){var t=te;e.__c=e.__(),te=t}function cn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!sn(n,e[o])})}function io(e,t){return typeof t=="function"?t(e):t}var co=function(e,t,n,o){var r;t[0]=0;for(var s=1;s<t.length;s++){var i=t[s++],l=t[s]?(t[0]|=i?1:2,n[t[s++]]):t[++s];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++s]]=l:i===6?o[1][t[++s]]+=l+"":i?(r=e.apply(l,co(e,l,n,["",null])),o.push(r),l[0]?t[0]|=2:(t[s-2]=0,t[s]=r)):o.push(l)}return o},lo=new Map;function uo(e){var t=lo.get(this);return t||(t=new Map,lo.set(this,t)),(t=co(this,t.get(e)||(t.set(e,t=(function(n){for(var o,r,s=1,i="",l="",u=[0],d=function(m){s===1&&(m||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,m,i):s===3&&(m||i)?(u.push(3,m,i),s=2):s===2&&i==="..."&&m?u.push(4,m,0):s===2&&i&&!m?u.push(5,0,!0,i):s>=5&&((i||!m&&s===5)&&(u.push(s,0,i,r),s=6),m&&(u.push(s,m,0,r),s=6)),i=""},c=0;c<n.length;c++){c&&(s===1&&d(),d(c));for(var $=0;$<n[c].length;$++)o=n[c][$],s===1?o==="<"?(d(),u=[u],s=3):i+=o:s===4?i==="--"&&o===">"?(s=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),s=1):s&&(o==="="?(s=5,r=i,i=""):o==="/"&&(s<5||n[c][$+1]===">")?(d(),s===3&&(u=u[0]),s=u,(u=u[0]).push(2,0,s),s=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),s=2):i+=o),s===3&&i==="!--"&&(s=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var a=uo.bind(Wn);function ue(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function G(e){let[t,n]=g(e.get());return T(()=>(n(e.get()),e.subscribe(n)),[e]),t}function St(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ue(n);return o.subscribe(r=>{try{localStorage.setItem(e,r)}catch{}}),o}var Ct=()=>location.pathname+location.search,Ve=ue(Ct()),po=0;addEventListener("popstate",()=>Ve.set(Ct()));function pe(e,{replace:t=!1}={}){e!==Ct()&&(t?history.replaceState(history.state,"",e):(po++,history.pushState({depth:po},"",e)),Ve.set(Ct()))}function mo(){history.state?.depth>0?history.back():pe("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():pe(t.pathname+t.search))});function j(){let e=G(Ve);return[ce(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:r=!0}={})=>{let s=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){s.delete(l);for(let d of[u].flat())d&&s.append(l,d)}let i=s.toString();pe(location.pathname+(i?`?${i}`:""),{replace:r})}]}function oe(e){T(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function fo(e,t){for(let[n,o]of t){let r=n.exec(e);if(r)try{return[o,r.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function ye(e,t,n=200){let[o,r]=g(e);return T(()=>r(e),[e]),T(()=>{if(o===e)return;let s=setTimeout(()=>t(o),n);return()=>clearTimeout(s)},[o]),[o,r]}var we=ue({online:!0}),Ie=ue(0),ut=null;function Dt(){we.get().online||(clearTimeout(ut),ut=null,we.set({online:!0}),Ie.set(Ie.get()+1))}function pt(e){let t=we.get();we.set({online:!1,since:t.since??Date.now(),message:e}),ut===null&&(ut=setTimeout($o,1e3))}async function $o(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Dt();let t=await e.json().catch(()=>null);t?.message&&we.set({...we.get(),message:t.message})}catch{}we.get().online||(ut=setTimeout($o,1e3))}var Ne=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function re(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Rt(e={}){let t=new URLSearchParams;for(let[o,r]of Object.entries(e))for(let s of Array.isArray(r)?r:[r])s!=null&&s!==""&&s!==!1&&s!==0&&t.append(o,s);let n=t.toString();return n?`?${n}`:""}var un=0n,ho=0,Ze=()=>Date.now()+ho;function Ot(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:un.toString()}}function Gr(e){try{let t=BigInt(e?.revision??0);t>un&&(un=t)}catch{}}async function Je(e,t,{query:n,body:o,signal:r}={}){let s={method:e,signal:r,headers:{Accept:"application/json"}};o!==void 0&&(s.headers["Content-Type"]="application/json",s.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Rt(n),s),l=i.ok?await i.json():await i.json().catch(()=>null)}catch(u){throw r?.aborted?u:(pt("The server does not answer."),new Ne(0))}return At(i,l)}function At(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let r=n-Date.now();ho=Math.abs(r)>2e3?r:0}if(e.ok)return Dt(),Gr(t),t??{};let o=new Ne(e.status,t);throw o.offline?pt(o.message):Dt(),e.status===401&&Qr(),o}var It=e=>e<40?1e4:e<300?3e4:6e4,x=(e,t,n)=>Je("GET",e,{query:t,signal:n}),C=(e,t,n)=>Je("POST",e,{body:t,signal:n});function Qr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Rt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function ke(e,t,n,o,r=5e3){let s=[],i="";do{let l=await x(e,{page_size:1e3,...t,page_token:i},o);s.push(...l[n]??[]),i=l.next_page_token??""}while(i&&s.length<r);return{items:s,more:i!==""}}var Ee=ue(null),Mt=St("author",""),de=()=>Ee.get()?.authenticated?{}:{author:Mt.get()||"dashboard"};async function pn(){let e=await x("/session");Ee.set({authenticates:e.authenticated??!1,...e}),Nt.clear()}async function go(e){await Je("POST","/session",{body:{token:e}}),await pn()}async function _o(){await Je("DELETE","/session"),Ee.set(null)}var Nt=new Map;function Yr(e){let t=JSON.stringify(e),n=Nt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>Nt.delete(t)),Nt.set(t,n)),n.answer}var Xr={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function bo(e,t="",n="",o=""){let r=G(Ee),[s,i]=g("");return T(()=>{if(!e||!r?.authenticated)return i("");let l=!1;return Yr({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${Xr[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,r]),s}var v=e=>Number(e??0).toLocaleString("en"),R=(e,t,n)=>`${v(e)} ${Number(e)===1?t:n}`,I=e=>e?Math.round(parseFloat(e)*1e3):0;function be(e){if(!e)return"0s";if(e<0)return`-${be(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let r=Math.floor(e/o);r&&(t+=r+n),e-=r*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?be(Math.round(e/100)*100):e<36e5?be(Math.round(e/1e3)*1e3):e<48*36e5?be(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var et=e=>X(Math.max(0,Math.round(e/1e3))*1e3),Zr={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Te(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,r,s)=>(t+=parseFloat(r)*Zr[s],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Ge=e=>e==null?"":be(I(e));var dt=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${dt(t.getMonth()+1)}-${dt(t.getDate())}`} ${Lt(t)}`}var Lt=e=>`${dt(e.getHours())}:${dt(e.getMinutes())}:${dt(e.getSeconds())}`;function tt(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(Ze()).toDateString()?Lt(t):M(e)}function he(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Me(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${v(n)} more`:"")}function dn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var es=4e4,ts=5e3;function yo(e,t,n){let o=!1,r=0,s=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",$)},$=()=>{document.hidden?d():l||p()},m=f=>{if(f.id&&(i=f.id),!f.data)return;let _=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let h=new Ne(_.status??500,_);vo(_.code)||(c(),n.error?.(h))}else n[f.type]?.(_,f.id)};async function p(){clearTimeout(u);let f=l=new AbortController,_=null,h=()=>{clearTimeout(_),_=setTimeout(()=>f.abort(),es)};try{h();let w={Accept:"text/event-stream"};i&&(w["Last-Event-ID"]=i);let y=await fetch(e+Rt(t),{headers:w,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw At(y,await y.json().catch(()=>null)),new Ne(500,{message:"The answer is not a stream of events."});r=0,At(y,{}),n.open?.(s),s=!0,await ns(y.body,S=>!o&&m(S),h)}catch(w){w instanceof Ne?!w.offline&&!vo(w.code)&&w.status!==401?(c(),n.error?.(w)):w.status===401&&c():f.signal.aborted||pt("The connection to the server broke.")}finally{clearTimeout(_)}o||l!==f||(l=null,!document.hidden&&(r++,u=setTimeout(p,Math.min(ts,500*r)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",$),document.hidden||p(),c}var vo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function ns(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),r="",s={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(r+i).split(`
`);r=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(s),s={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let $=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":s.type=$;break;case"id":s.id=$;break;case"data":s.data+=$}}}}var os=1e4;function E(e,t,{every:n=0,keep:o=!1}={}){let[r,s]=g({}),[i,l]=g(0),u=G(Ie),d=JSON.stringify(t),c=Y(e);c.current=e;let $=Y(0);T(()=>{if(e===null)return;let f=new AbortController,_=h=>{f.signal.aborted||($.current=0,s(h))};return $.current=Date.now(),c.current(f.signal).then(h=>_({data:h,key:d}),h=>_(w=>({...w,error:h,failed:d}))),()=>f.abort()},[d,i,u,e===null]),T(()=>{if(!n)return;let f=setInterval(()=>document.hidden||Date.now()-$.current<os||l(_=>_+1),n);return()=>clearInterval(f)},[n]);let m=r.key===d,p=r.failed===d?r.error:void 0;return{data:m||o?r.data:void 0,error:p,loading:!m&&!p,refresh:()=>l(f=>f+1),set:f=>s(_=>({..._,data:f(_.data)}))}}function Se(e,t,n){let o=Y(n);o.current=n;let r=JSON.stringify([e,t]);T(()=>{if(!e)return;let s=i=>(...l)=>o.current[i]?.(...l);return yo(e,t,{message:s("message"),live:s("live"),missed:s("missed"),open:s("open"),error:s("error"),end:s("end")})},[r])}var mn=ue(0),wo=null,ko=0;function Re(){return T(()=>(ko++===0&&(wo=setInterval(()=>document.hidden||mn.set(mn.get()+1),1e3)),()=>{--ko===0&&clearInterval(wo)}),[]),G(mn)}function Le(e,t,{rest:n=t,burst:o=4}={}){let r=Y(e);r.current=e;let s=Y(null),i=Y(0);return T(()=>()=>clearTimeout(s.current),[]),()=>{if(s.current!==null)return;let l=performance.now();i.current=Math.max(i.current,l)+n,s.current=setTimeout(()=>{s.current=null,r.current()},Math.max(t,i.current-l-o*n))}}function Pt(e){let[t,n]=g(()=>matchMedia(e).matches);return T(()=>{let o=matchMedia(e),r=()=>n(o.matches);return o.addEventListener("change",r),()=>o.removeEventListener("change",r)},[e]),t}function me({what:e="Reading"}){return a`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function O({title:e,children:t}){return a`<div class="empty"><p class="empty-title">${e}</p>${t&&a`<p>${t}</p>`}</div>`}var Eo={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function B({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return a`<div class="failure" role="alert">
    <p class="failure-text">${xo(e.message)}</p>
    ${Eo[e.code]&&a`<p>${Eo[e.code]}</p>`}
    ${n.length>0&&a`<ul>${n.map(o=>a`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&a`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&a`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&a`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var xo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function z({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?a`<${B} error=${e.error} retry=${e.refresh} />`:a`<${me} what=${t} />`:a`${e.error&&!e.error.offline&&a`<${B} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function To(){let e=G(we);return Re(),e.online?a`<div role="status" class="sr-only"></div>`:a`<div class="offline" role="status">
    <strong>${xo(e.message)}</strong>
    <span> What is shown is as of ${Lt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var mt=ue([]),rs=0;function ge(e,{tone:t="run",action:n}={}){mt.set([...mt.get().slice(-2),{id:++rs,text:e,tone:t,action:n}])}var fn=e=>mt.set(mt.get().filter(t=>t.id!==e));function ss({id:e,text:t,tone:n,action:o}){return T(()=>{let r=setTimeout(()=>fn(e),o?3e4:12e3);return()=>clearTimeout(r)},[e]),a`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&a`<button type="button" onClick=${()=>(fn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>fn(e)}>×</button>
  </div>`}function So(){let e=G(mt);return a`<div class="notices" role="status">${e.map(t=>a`<${ss} key=${t.id} ...${t} />`)}</div>`}function H({role:e,semaphore:t,group:n,acquirer:o,why:r,kind:s="",children:i,onClick:l,type:u="button",...d}){let c=bo(e,t,n,o),$=ct(),m=c||r;return a`<span class="action">
    <button
      type=${m?"button":u}
      class=${s}
      aria-disabled=${m?"true":void 0}
      aria-describedby=${m?$:void 0}
      onClick=${m?void 0:l}
      ...${d}
    >${i}</button>
    ${m&&a`<span class="why" role="tooltip" id=${$}>${m}</span>`}
  </span>`}function le({title:e,onClose:t,wide:n,children:o}){let r=Y(null),s=ct();return lt(()=>{let i=document.activeElement,l=r.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),a`<dialog
    ref=${r}
    class=${n?"wide":""}
    aria-labelledby=${s}
    onCancel=${i=>(i.preventDefault(),t())}
    onMouseDown=${i=>i.target===r.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${s}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${o}
    </div>
  </dialog>`}function Co({label:e,help:t,error:n,children:o,class:r=""}){let s=ct(),i=[t&&`${s}-help`,n&&`${s}-error`].filter(Boolean).join(" ")||void 0;return a`<div class="field ${r}">
    <label for=${s}>${e}</label>
    ${o({id:s,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&a`<p class="help" id="${s}-help">${t}</p>`}
    ${n&&a`<p class="error" id="${s}-error" role="alert">${n}</p>`}
  </div>`}function P({label:e,help:t,error:n,value:o,onInput:r,area:s,class:i,...l}){return a`<${Co} label=${e} help=${t} error=${n} class=${i}>
    ${u=>s?a`<textarea rows=${s} value=${o} onInput=${d=>r(d.target.value)} ...${u} ...${l}></textarea>`:a`<input value=${o} onInput=${d=>r(d.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function xe({label:e,help:t,value:n,options:o,onChange:r,class:s}){return a`<${Co} label=${e} help=${t} class=${s}>
    ${i=>a`<select value=${n} onChange=${l=>r(l.target.value)} ...${i}>
      ${o.map(([l,u])=>a`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function ie({label:e,help:t,checked:n,onChange:o}){let r=ct();return a`<div class="check">
    <input type="checkbox" id=${r} checked=${n} aria-describedby=${t?`${r}-help`:void 0} onChange=${s=>o(s.target.checked)} />
    <label for=${r}>${e}</label>
    ${t&&a`<span class="help" id="${r}-help">${t}</span>`}
  </div>`}function nt({of:e,query:t="tab",label:n}){let[o]=j(),r=o.get(t)??e[0][0],s=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return a`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>a`<a href=${s(i)} aria-current=${i===r?"page":void 0}>${l}</a>`)}
  </nav>`}function Do(e){let t=Y(e);t.current=e,T(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let r=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);r&&o.key!=="Escape"||t.current[o.key]?.(o,r)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function N(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var jt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],as={value:"",word:"unknown",tone:"idle",help:""},Ro=e=>jt.find(t=>t.value===e)??as,ft=e=>jt.filter(t=>e.states?.includes(t.value));function Oo(e){let t=ft(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${tt(e.pause.until)}`:"paused":t?.word??"unknown"}function Ft(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(is(e.pause)),e.missed&&t.push(ls(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${L(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${M(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function is(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(I(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function ls(e){let t=N(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${N(e.reason,"REASON_")})`:""}`}var L=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Ao(e){let t=N(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(I(e.drain_left))}`);let n=N(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Io=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function je(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var fe=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Pe(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Ge(n);case"choice":return N(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function $n(e,t){return fe.map(n=>({field:n,before:Pe(n,e),after:Pe(n,t)})).filter(n=>n.before!==n.after)}var hn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(s=>`${s.acquirer} in ${s.group}`),r=t-o.length;return o.join(", ")+(r>0?` and ${v(r)} more`:"")};function No(e=[]){let t=e.flatMap(s=>s.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(s=>s.drain_left).length,o=[];t.length>n&&o.push(`${R(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let r=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(s=>I(s.free_within))))}.`;return r[0].toUpperCase()+r.slice(1)}function Mo(e=[],t=[]){let n=new Map;for(let o of e)for(let r of o.warnings??[])n.set(r,[...n.get(r)??[],o.semaphore]);return[...t,...[...n].map(([o,r])=>`${Me(r)}: ${o}`)]}var cs=e=>`${e.length===1?"change":"changes"} ${Me(e,5)}`;function gn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${M(e.until)}`),t.join(", ")}function Lo(e){let t=[],n=N(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(I(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${gn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let s=e.firings.firings.map(l=>je(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${R(s.length,"firing","firings")} ${i} (${Me(s)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${cs([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${L(e.permit.identity)}, token ${e.permit.token}`);let r=N(e.missed,"MISSED_KIND_");return r&&t.push(r),e.drain&&t.push(`drain ${X(I(e.drain))}`),[...new Set(t)].join("; ")}var us={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Po=e=>us[N(e,"EVENT_KIND_")]??"idle",jo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function _n(e){let t=N(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function V({caption:e,columns:t,rows:n,rowKey:o,empty:r,note:s,wide:i}){return n?.length?a`<div class=${i?"table-wrap wide":"table-wrap"}>
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([l,,u])=>a`<th scope="col" class=${u}>${l}</th>`)}</tr></thead>
      <tbody>
        ${n.map((l,u)=>a`<tr key=${o?o(l):u}>
          ${t.map(([d,c,$],m)=>m===0?a`<th scope="row" class=${$} data-label=${d}>${c(l)}</th>`:a`<td class=${$} data-label=${d}>${c(l)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${s&&a`<p class="faint">${s}</p>`}
  </div>`:r??a`<${O} title="Nothing here." />`}function Ce({of:e}){return a`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function _e({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return a`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function qt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Re(),!e)return a`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),r=t&&o/t<.34;return a`<span class="deadline" title=${n}>
    ${t>0&&a`<${_e} share=${o/t} tone=${r?"wait":"run"} label="${et(o)} left" />`}
    <span class="num">${et(o)}</span>
  </span>`}function ae({at:e}){return Re(),e?a`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${et(Ze()-Date.parse(e))}</time>`:"–"}function Fo({parts:e,total:t,label:n}){let o=0;return a`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([r])=>r>0).map(([r,s])=>{let i=t?1e3*r/t:0,l=a`<rect class="fill-${s}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Fe=50;function bn({before:e,after:t}){if(!e&&!t)return null;if(!e)return a`<span>created</span>`;if(!t)return a`<span>deleted</span>`;let n=$n(e,t);return n.length===0?a`<span class="faint">–</span>`:a`<ul class="changes">
    ${n.map(o=>a`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function ps({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:a`<section>
    <h3>Must stop</h3>
    <${V}
      caption="Holders that must stop"
      rows=${t.slice(0,Fe)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>L(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>a`<${ae} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(I(n.free_within))+(n.drain_left?` (its drain had ${X(I(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Fe&&`and ${v(t.length-Fe)} more`}
    />
  </section>`}function qo({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||$n(i.before,i.after).length),o=Mo(t,e.warnings),r=t.flatMap(i=>i.held??[]),s=t.filter(i=>Number(i.waiting_tasks));return a`<div class="effects">
    <p class="lead">${No(t)}</p>
    ${e.confirm?.length>0&&a`<ul class="confirm">${e.confirm.map(i=>a`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&a`<ul class="warnings">${o.slice(0,20).map(i=>a`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&a`<section>
      <h3>${R(n.length,"semaphore changes","semaphores change")}</h3>
      <${V}
        caption="Semaphores that change"
        rows=${n.slice(0,Fe)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>a`<${bn} before=${i.before} after=${i.after} />`],["Lets in",i=>hn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>hn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>v(i.stopped?.length),"num"],["Continue",i=>v(i.unaffected),"num"]]}
        note=${n.length>Fe&&`and ${v(n.length-Fe)} more`}
      />
    </section>`}
    <${ps} effects=${t} />
    ${r.length>0&&a`<section><h3>Held for an operator</h3>
      <ul>${r.slice(0,Fe).map(i=>a`<li>${i.semaphore}: the permit of ${L(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${s.length>0&&a`<ul>${s.slice(0,Fe).map(i=>a`<li>${i.semaphore}: ${R(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function $e(e){let{title:t,verb:n,kind:o,preview:r,run:s,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:$,nothing:m,deps:p,extra:f,children:_}=e,[h,w]=g(0),y=E(r,[t,h,p],{keep:!0}),S=y.loading||y.error,[A,k]=g(""),[D,F]=g(!1),[Q,U]=g(null),q=Y(null),K=y.data&&m?.(y.data);T(()=>{y.error&&d?.(y.error)&&l()},[y.error]),T(()=>{q.current=null},[JSON.stringify(p)]);let ne=()=>{q.current=null,U(null),w(h+1)};async function b(se){if(se.preventDefault(),!(D||S||K)){F(!0),U(null),q.current??=Ot();try{let W=await s({reason:A,...de(),...q.current},y.data),ve=W.revision??W.change,Gt=ve&&ve!=="0"?{text:"Undo",run:()=>Qe(ve)}:void 0;ge(i(W),{action:Gt}),u?.(W,y.data),l()}catch(W){W.code!=="UNAVAILABLE"&&(q.current=null),U(W),F(!1),d?.(W)&&l()}}}return a`<${le} title=${t} onClose=${l} wide>
    <form onSubmit=${b}>
      ${_}
      <${z} of=${y} what="Asking what this would do">
        ${se=>a`${f?.(se)}<${qo} of=${se} />${se.notes?.length>0&&a`<ul>${se.notes.map(W=>a`<li>${W}</li>`)}</ul>`}
        ${K&&a`<p class="lead">${K}</p>`}`}
      <//>
      <${P} label="Reason" help="For the journal: why you do this." value=${A} onInput=${k} maxlength="1024" />
      ${Q&&a`<${B} error=${Q} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(Q.reason)?ne:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${H} role=${c} semaphore=${$} type="submit" kind=${o??"primary"} why=${S?"There is no preview yet.":K}>
          ${D?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var vn=ue(null);function Qe(e,t){vn.set({change:String(e),onDone:t})}function Uo(){let e=G(vn);return e?a`<${$e}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...de()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>vn.set(null)}
  />`:null}var ds=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],yn=St("theme","auto");yn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function ms(){let e=G(yn),t={auto:"light",light:"dark",dark:"auto"}[e];return a`<button type="button" class="plain" onClick=${()=>yn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var fs=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function $s({onClose:e}){return a`<${le} title="Keys" onClose=${e}>
    <dl class="keys">${fs.map(([t,n])=>a`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function hs(){let e=G(Ee),t=G(Mt),[n,o]=g(!1);if(!e)return null;let r=e.authenticated?e.principal||e.credential:t||"dashboard";return a`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${r}</button>
    ${n&&a`<${le} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?a`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>_o().catch(()=>{}).then(()=>pe("/login"))}>Log out</button></p>`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${P} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${s=>Mt.set(s)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function gs(){let e=E(o=>x("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=G(we).online,n=e.data;return t?n?a`<a class="leader" href="/cluster">
    ${n.leader_id?a`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}<span class="long"> leads</span></span>`:a`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:a`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:a`<a class="leader" href="/cluster"><span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var _s={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function Ut({children:e,bare:t}){let n=G(Ve).split("?")[0],[o,r]=g(!1),s=Y(null),i=Y(!0),l=Y(0);return T(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),s.current?.querySelector("h1")?.focus()},[n]),Do({"?":()=>r(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&mo()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(_s).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),a`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&a`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${ds.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return a`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${gs} />
        <${hs} />
        <${ms} />
        <button type="button" class="plain" onClick=${()=>r(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${To} />
    <main id="main" tabindex="-1" ref=${s}>${e}</main>
    <${So} />
    <${Uo} />
    ${o&&a`<${$s} onClose=${()=>r(!1)} />`}`}function Z({children:e,aside:t}){return a`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&a`<div class="row">${t}</div>`}</div>`}var Ho=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function bs(){let[e,t]=g({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=g(null),[r,s]=g(null);return a`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),s(null)),s)}}>
      <${xe} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Ho.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${P} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?a`<p class="lead tone-run">Yes.</p>`:a`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${r&&a`<${B} error=${r} />`}
  </section>`}function vs(){let e=E(t=>x("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?a`<${O} title="Only administrators see who may do what." />`:a`<${B} error=${e.error} retry=${e.refresh} />`:e.data?a`<${V}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${a`<${O} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>a`<ul class="changes">${(t.grants??[]).map(n=>a`<li>${_n(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${M(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${M(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:a`<${me} what="Reading the bindings" />`}function Wo(){oe("Access");let e=G(Ee);return a`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?a`<${Ce} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(_n).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>`:a`<${me} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${bs} />
        <section class="panel"><h2>Roles</h2>
          <${V} caption="Roles" rows=${Ho} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${vs} /></section>
    </div>`}var ys=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],ws=e=>ys.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function $t({entries:e,semaphore:t,onChange:n}){let o="";return a`<ol class="entries">
    ${e.map(r=>{let s=r.revision!==o;return o=r.revision,a`<li key=${`${r.revision}.${r.ordinal??0}`} class=${s?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${r.at} title=${M(r.at)}>${tt(r.at)}</time>
          <span class="tag tone-${Po(r.kind)}">${N(r.kind,"EVENT_KIND_")}</span>
          ${!t&&r.semaphore&&a`<a class="mono" href=${`/s/${encodeURIComponent(r.semaphore)}`}>${r.semaphore}</a>`}
          <span class="grow">${Lo(r)}</span>
          <span class="faint"><a href=${`/activity?change=${r.revision}`}>change ${r.revision}</a>${r.author&&` by ${r.author}`}</span>
          ${s&&jo(r)&&a`<${H} role=${ws(r.kind)} semaphore=${r.semaphore??""} onClick=${()=>Qe(r.revision,n)}>Undo …<//>`}
        </div>
        ${r.reason&&a`<p class="entry-reason">${r.reason}</p>`}
        ${r.before&&r.after&&a`<${bn} before=${r.before} after=${r.after} />`}
      </li>`})}
  </ol>`}function Bo(){oe("Activity");let[e,t]=j(),n=e.get("change")??"";return a`<${Z} aside=${n&&a`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?a`<${xs} change=${n} />`:a`<${Es} params=${e} change=${t} />`}`}var ks=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function Es({params:e,change:t}){let[n,o]=ye(e.get("q")??"",h=>t({q:h}),300),[r,s]=ye(e.get("labels")??"",h=>t({labels:h}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=ye(l,h=>t({by:h}),300),[c,$]=g(50),m={names:ks(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=E(h=>x("/v1/history",{...m,page_size:c},h),["journal",m,c],{every:15e3,keep:!0}),f=Le(p.refresh,i?500:60);Se("/v1/watch",m,{message:({events:h=[]})=>h.length&&f(),missed:f,open:h=>h&&f()});let _=(p.data?.entries??[]).filter(h=>!l||(h.author??"").toLowerCase().includes(l.toLowerCase()));return a`<form class="filters" role="search" onSubmit=${h=>h.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${h=>o(h.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${h=>d(h.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${r} onInput=${h=>s(h.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${ie} label="Also how permits ended" checked=${i} onChange=${h=>t({permits:h?"1":""})} />
    </form>
    <section class="panel">
      <${z} of=${p} what="Reading the journal">
        ${h=>a`
          ${_.length?a`<${$t} entries=${_} onChange=${p.refresh} />`:a`<${O} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${h.next_page_token&&c<1e3&&a`<p class="row"><button type="button" onClick=${()=>$(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function xs({change:e}){let t=E(n=>x("/v1/history",{change:e,page_size:1e3},n),["change",e]);return a`<section class="panel">
    <${z} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:r})=>a`
        ${o&&a`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?a`<${$t} entries=${n} onChange=${t.refresh} />`:a`<${O} title=${`The journal has no change ${e}.`} />`}
        ${r&&a`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&a`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Ht="M4 14V2",Ko={idle:[Ht,"M4 4l8-2"],running:[Ht,"M4 3l9 4v-3l-9-2z"],waiting:[Ht,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Ht,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function ht({word:e}){let t=Ko[e]??Ko.idle;return a`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>a`<path d=${n} />`)}
  </svg>`}function gt({value:e,text:t}){let n=Ro(e);return a`<span class="state tone-${n.tone}"><${ht} word=${n.word} /><span>${t??n.word}</span></span>`}function zo({record:e}){let t=ft(e)[0];return a`<${gt} value=${t?.value} text=${Oo(e)} />`}function Wt({tone:e="idle",children:t}){return a`<span class="tag tone-${e}">${t}</span>`}var Ts=864e5,Jo=1e3,Go=e=>e?.role==="SERVER_ROLE_LEADER",Qo=e=>e.map(t=>t.status).filter(Go).sort((t,n)=>Number(n.term)-Number(t.term))[0],Yo=e=>e.port==="CERTIFICATE_PORT_API"?"API":N(e.port,"CERTIFICATE_PORT_"),Bt=e=>I(e)<0?`${be(-I(e))} behind`:`${be(I(e))} ahead`;function Xo(e){if(e.error)return["deny",e.error];let t=Date.parse(e.not_after)-Ze();if(t<=0)return["deny","has ended"];let n=Math.floor(t/Ts);return[n<7?"deny":n<30?"wait":"",n<1?`ends in ${X(t)}`:`ends in ${R(n,"day","days")}`]}function Ss(e,t){if(!e.status)return[["deny",`does not answer: ${e.error}`]];let n=(e.status.certificates??[]).map(o=>[o,...Xo(o)]).filter(([,o])=>o);return[Number(e.lag??0)>=Jo&&["wait","lagging"],...n.map(([o,r,s])=>[r,`${Yo(o)} certificate ${o.error?"cannot be used":s}`]),t&&["stop",`clock is ${Bt(t.ahead)}`],e.status.insecure&&["stop","started with --insecure"]].filter(Boolean)}var Cs={run:"running",wait:"waiting",stop:"missed",deny:"denied"};function Ds({of:e}){return(e.length?e:[["run","well"]]).map(([t,n])=>a`<div class="state tone-${t}"><${ht} word=${Cs[t]} /><span>${n}</span></div>`)}function Rs(e){return e.status?Go(e.status)?a`<strong class="tone-run">leader</strong>`:e.voter?N(e.status.role,"SERVER_ROLE_")||"stopping":"non-voter":e.voter?"voter":"non-voter"}var Vo=e=>be(+(parseFloat(e??"0")*1e3).toFixed(2));function Zo(e,t){let n=r=>s=>s.status?r(s.status,s):a`<span class="faint">–</span>`,o=r=>t?.find(s=>s.id===r.id);return[["Server",r=>a`${r.id}${r.id===e&&a`<span class="faint"> (answers you)</span>`}
      <span class="under">${r.api_address||"API address not known"}<br />${r.peer_address} (peers)</span>`,"name"],["State",r=>a`<${Ds} of=${Ss(r,o(r))} />`],["Role",Rs,"whole"],["Term",n(r=>r.term),"num"],["Entries behind",n((r,s)=>s.lag===void 0?"not known":a`<span class=${Number(s.lag)>=Jo?"tone-wait":""}>${v(s.lag)}</span>`),"num"],["Log writes",n(r=>r.log_writes?a`${Vo(r.log_writes.median)}<span class="under">${Vo(r.log_writes.longest)} longest</span>`:"none yet"),"num"],["Snapshot",n(({last_snapshot:r})=>r?a`${r.taken_at?a`<${ae} at=${r.taken_at} /> ago`:`index ${r.index}`}<span class="under">${he(r.bytes)}</span>`:"none yet"),"num"],["Version",n(r=>a`${r.version||"–"}<span class="under">level ${r.feature_level}</span>`),"whole"],["Up for",n(r=>r.uptime&&X(I(r.uptime))),"num"],["Clock",n((r,s)=>t?o(s)?a`<span class="tone-stop">${Bt(o(s).ahead)}</span>`:"in step":"not known"),"num"]]}function er({of:e}){let t=e.flatMap(o=>(o.status?.certificates??[]).map(r=>({...r,server:o.id}))),n=e.filter(o=>!o.status).map(o=>o.id);return a`<section class="panel">
    <h2>Certificates</h2>
    <${V}
      caption="Certificates of the servers"
      rows=${t}
      rowKey=${o=>`${o.server} ${o.port}`}
      empty=${a`<${O} title="No server that answers uses TLS." />`}
      columns=${[["Server",o=>o.server,"name"],["Port",Yo],["Subject",o=>o.subject||"–","name"],["Ends",o=>{let[r,s]=Xo(o);return a`<span class=${r&&`tone-${r}`}>${o.error?s:a`${M(o.not_after)}, ${s}`}</span>`}]]}
      note=${n.length>0&&`Those of ${n.join(", ")} are not known.`}
    />
  </section>`}var Os=()=>E(e=>x("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function qe(){let e=Os(),[t,n]=g(null),o=e.data?.cordons??[];if(o.length===0)return null;let r=s=>C("/v1/uncordon",{id:s.id,...de(),...Ot()}).then(i=>{ge(`Cordon ${s.id} is ended.`,{action:{text:"Undo",run:()=>Qe(i.revision,e.refresh)}}),n(null),e.refresh()},n);return a`<section class="cordons" aria-label="Cordons in force">
    <${B} error=${t} />
    <ul>
      ${o.map(s=>a`<li key=${s.id}>
          <span class="state tone-deny"><${ht} word="cordoned" />cordoned</span>
          <span class="grow">${gn(s)}${s.reason&&`: ${s.reason}`}${s.author&&a`<span class="faint"> by ${s.author}</span>`}</span>
          <${H} role="ROLE_OPERATOR" onClick=${()=>r(s)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function As({member:e,onClose:t,onDone:n}){let[o,r]=g(null);return a`<${le} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{ge(`${l.leader_id} leads.`),n(),t()},r)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${B} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function Is({of:e,id:t,clocks:n,onChange:o}){let[r,s]=g(null);return a`<section class="panel">
    <h2>Members</h2>
    <${V}
      caption="Members"
      rows=${e}
      rowKey=${i=>i.id}
      wide
      columns=${[...Zo(t,n),["",i=>i.voter&&!i.leader&&a`<${H} role="ROLE_ADMIN" onClick=${()=>s(i)}>Let it lead …<//>`,"end"]]}
    />
    ${r&&a`<${As} member=${r} onClose=${()=>s(null)} onDone=${o} />`}
  </section>`}function Ns({leader:e}){let t=[...(e?.member_clocks??[]).map(n=>({name:`server ${n.id}`,ahead:n.ahead})),...(e?.host_clocks??[]).map(n=>({name:L(n),ahead:n.ahead,seen:n.seen}))];return a`<section class="panel">
    <h2>Clocks</h2>
    <${V}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${a`<${O} title=${e?"No clock is off.":"Only the leader compares clocks, and it does not answer."} />`}
      columns=${[["Whose",n=>n.name,"name"],["Off by",n=>a`<span class="tone-stop">${Bt(n.ahead)}</span>`,"num"],["Seen",n=>n.seen?a`<${ae} at=${n.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function Ms({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return a`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${_e} share=${n?t/n:0} label="${he(t)} of ${he(n)}" /><span class="num">${he(t)} of ${he(n)}</span></p>
    <${V}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${a`<${O} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>a`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>v(o.jobs),"num"],["Waiting",o=>v(o.waiting),"num"],["Running",o=>v(o.held),"num"],["Stored",o=>he(o.bytes),"num"]]}
    />
  </section>`}function Ls(){let e=E(n=>x("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?be(I(o)):/bytes/.test(n)?he(o):v(o);return a`<section class="panel">
    <h2>Settings</h2>
    <${z} of=${e} what="Reading the settings">
      ${n=>a`<${Ce} of=${Object.entries(n.settings??{}).map(([o,r])=>[o,t(o,r)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function tr(){oe("Cluster");let e=E(t=>x("/v1/members",{},t),["members"],{every:3e3,keep:!0});return a`<${Z}>Cluster<//>
    <${qe} />
    <${z} of=${e} what="Asking the servers">
      ${t=>{let n=t.members.map(i=>({...i.member,...i})),o=Qo(n),r=o??n.find(i=>i.id===t.id)?.status??n.find(i=>i.status)?.status??{},s=n.filter(i=>i.status?.insecure).map(i=>i.id);return a`<div class="stack">
          ${!r.leader_id&&a`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${r.recovery_wait&&a`<p class="note">Nothing is granted for another ${X(I(r.recovery_wait))}: a recovery is being waited out.</p>`}
          ${s.length>0&&a`<p class="note">Started with --insecure: ${s.join(", ")}. The ports may be reached without TLS and authentication.</p>`}
          ${r.denied_semaphores>0&&a`<div class="note"><p>${R(r.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${r.denied.map(i=>a`<li key=${i.semaphore}><a href=${`/s/${encodeURIComponent(i.semaphore)}`}>${i.semaphore}</a>: ${i.text||i.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>State</h2>
            <${Ce} of=${[["Cluster",a`<code>${r.cluster_id}</code>`],["Leader",r.leader_id?a`${r.leader_id}${!o&&a`<span class="tone-deny"> (does not answer)</span>`}`:"none"],["Servers",`${v(n.filter(i=>i.status).length)} of ${v(n.length)} answer`],["Revision",r.revision],["Definitions",v(r.definitions)],["Permits",v(r.permits)],["Waiters",o?v(r.waiters):"only the leader knows"],["Smallest safe duration",r.smallest_duration&&be(I(r.smallest_duration))]]} />
          </section>
          <${Is} of=${n} id=${t.id} clocks=${o&&(o.member_clocks??[])} onChange=${e.refresh} />
          <div class="panels">
            <${er} of=${n} />
            <${Ns} leader=${o} />
            <${Ms} status=${r} />
          </div>
          <${Ls} />
        </div>`}}
    <//>`}var wn=e=>e.failed?"deny":e.over?"run":N(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",kn=e=>{let t=N(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},En=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${v(e[t])} ${t}`).join(", ");function xn({job:e}){let t=e.tasks??0,n=`${v(e.done)} of ${R(t,"task","tasks")} done`;return a`<div class="job-progress">
    <${Fo}
      total=${t}
      label="${n}; ${En(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Tn({jobs:e}){return a`<${V}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>a`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>a`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>a`<span class="tag tone-${wn(t)}">${kn(t)}</span>`],["Progress",t=>a`<${xn} job=${t} />`],["Failed",t=>t.failed?a`<strong class="tone-deny">${v(t.failed)}</strong>`:"0","num"],["Submitted",t=>a`<span title=${M(t.submitted_at)}><${ae} at=${t.submitted_at} /> ago</span>${t.spec.author&&a`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>he(t.bytes),"num"]]}
  />`}function nr(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${N(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var Ps=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(I(e.expires_in))}`:"";function Sn({data:e}){let t=[...e.workers??[],...e.away??[]];return a`<${V}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${L(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${a`<${O} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>L(n.identity),"name"],["Semaphore",n=>a`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>a`<span class="tag tone-${nr(n)[1]}">${nr(n)[0]}</span>`],["Free",n=>v(n.free),"num"],["Tasks",n=>n.tasks?.length?a`<ul class="held">${n.tasks.slice(0,8).map(o=>a`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${v(o.index)}, for <${ae} at=${o.granted_at} />
                ${o.progress&&a` <${_e} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${Ps(o)}</li>`)}${n.tasks.length>8&&a`<li>and ${v(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var js=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Fs(){let[e,t]=j(),[n,o]=ye(e.get("semaphore")??"",c=>t({semaphore:c}),300),[r,s]=ye(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=g(""),d=E(c=>x("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return a`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${r} onInput=${c=>s(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${xe} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${js} />
    </form>
    <section class="panel">
      <${z} of=${d} what="Reading the jobs">
        ${c=>a`
          ${c.jobs?.length?a`<${Tn} jobs=${c.jobs} />`:a`<${O} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&a`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&a`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function qs(){let e=E(t=>x("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return a`<section class="panel"><${z} of=${e} what="Reading the workers">${t=>a`<${Sn} data=${t} />`}<//></section>`}function or(){oe("Jobs");let[e]=j();return a`<${Z}>Jobs<//>
    <${nt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?a`<${qs} />`:a`<${Fs} />`}`}function Kt({title:e,text:t,verb:n,run:o,done:r,onClose:s,onDone:i,reason:l}){let[u,d]=g(""),[c,$]=g(null),[m,p]=g(!1);return a`<${le} title=${e} onClose=${s}>
    <form onSubmit=${async _=>{if(_.preventDefault(),!m){p(!0);try{ge(r(await o(u))),i(),s()}catch(h){$(h),p(!1)}}}}>
      <p>${t}</p>
      ${l&&a`<${P} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${B} error=${c} />
      <p class="row end"><button type="button" onClick=${s}>Cancel</button><button class="primary">${m?"Working …":n}</button></p>
    </form>
  <//>`}function Us({job:e,onChange:t}){let[n,o]=g(""),{id:r,semaphore:s}=e.spec,i=N(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,$)=>a`<${H} role="ROLE_OPERATOR" semaphore=${s} why=${$} onClick=${()=>o(d)}>${c}<//>`;return a`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&a`<${Kt} ...${l} title="Retry failed tasks" verb="Retry" text=${`${R(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(re`/v1/jobs/${r}:retry`,{as_of:e.revision})} done=${d=>`${R(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&a`<${Kt} ...${l} title="Drop failed tasks" verb="Drop" text=${`${R(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(re`/v1/jobs/${r}:drop`,{as_of:e.revision})} done=${d=>`${R(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&a`<${Kt} ...${l} title=${`Cancel ${r}`} verb="Cancel the job" reason
      text=${`${R(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${R(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>C(re`/v1/jobs/${r}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...de()})} done=${()=>`${r} is cancelled.`} />`}
    ${n==="delete"&&a`<${Kt} ...${l} title=${`Delete ${r}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>Je("DELETE",re`/v1/jobs/${r}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${r} is deleted.`} onDone=${()=>pe("/jobs")} />`}`}var rr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Hs=[["","any"],...Object.keys(rr).map(e=>[e,e])];function Ws({job:e,index:t,onClose:n}){let o=E(r=>x(re`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},r),["task",e,t]);return a`<${le} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${z} of=${o} what="Reading the task">
      ${r=>{let s=r.tasks?.[0];return s?a`<${Ce} of=${[["State",N(s.state,"TASK_STATE_")],["Attempts",v(s.attempts)],["Worker",s.worker&&L(s.worker)],["Token",s.token],["Returned unfinished",s.returns]]} />
          ${s.failure&&a`<h3>Failure</h3><pre>${s.failure}</pre>`}
          <h3>Payload</h3><pre>${dn(s.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${dn(s.result)||"(none)"}</pre>`:a`<${O} title="There is no such task." />`}}
    <//>
  <//>`}function Bs({id:e,round:t}){let[n,o]=j(),r=n.get("task")??"",[s,i]=g(0),[l,u]=g(null),d={states:r?[`TASK_STATE_${r.toUpperCase()}`]:[],from:s,page_size:100},c=E($=>x(re`/v1/jobs/${e}/tasks`,d,$),["tasks",e,d,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${xe} label="In state" value=${r} onChange=${$=>(i(0),o({task:$}))} options=${Hs} /></div>
    <${z} of=${c} what="Reading the tasks">
      ${$=>a`<${V}
          caption="Tasks"
          rows=${$.tasks}
          rowKey=${m=>m.index??0}
          empty=${a`<${O} title="No task is in that state." />`}
          columns=${[["Task",m=>a`<button type="button" class="plain" onClick=${()=>u(m.index??0)}>${v(m.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",m=>a`<span class="tag tone-${rr[N(m.state,"TASK_STATE_")]}">${N(m.state,"TASK_STATE_")}</span>`],["Attempts",m=>v(m.attempts),"num"],["Worker",m=>m.worker?L(m.worker):"–","name"],["Progress",m=>m.progress?a`<${_e} share=${m.progress.fraction} label=${`${Math.round(100*(m.progress.fraction??0))} %`} /> ${m.progress.text}`:"–"],["Failure",m=>m.failure||"–"]]}
        />
        <p class="row end">
          ${s>0&&a`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${$.next>0&&a`<button type="button" onClick=${()=>i($.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&a`<${Ws} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function sr({name:e}){oe(e);let t=E(d=>x(re`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=g(0),r=Le(()=>o(d=>d+1),1e3),[s,i]=g(null),l=()=>{t.refresh(),r(),i(null)},u=t.data?.job;return T(()=>{u&&!u.over&&s===null&&i(u.revision)},[u?.over,s]),Se(s!==null?re`/v1/jobs/${e}:follow`:null,{after_revision:s},{message(d){d.job&&t.set(()=>({job:d.job})),r()},end:l}),t.error?.code==="NOT_FOUND"?a`<${Z}>${e}<//><${O} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?a`<${Z} aside=${a`<${Us} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${wn(u)}">${kn(u)}</span><span>${En(u)}</span></p>
        <${xn} job=${u} />
        ${u.cancel_text&&a`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ce} of=${[["Semaphore",a`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${M(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${M(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Ge(u.spec.timeout)],["Kept after its end",Ge(u.spec.retention)],["Stored",he(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${Bs} id=${e} round=${n} />
    </div>`:a`<${Z}>${e}<//>${t.error&&!t.error.offline?a`<${B} error=${t.error} retry=${t.refresh} />`:a`<${me} what="Reading the job" />`}`}function ar(){oe("Log in");let[e]=j(),[t,n]=g(""),[o,r]=g(null),[s,i]=g(!1),l=e.get("next")??"/";return a`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await go(t.trim()),pe(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){r(c),i(!1)}}}>
      <${P}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&a`<${B} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${s||!t.trim()}>${s?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function ir({change:e,effects:t,onEnd:n}){let o=ce(()=>t.flatMap(f=>f.stopped??[]),[t]),r=ce(()=>Date.now(),[e]),[s,i]=g({});Re();let l=o.filter(f=>!s[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],d=ce(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(_=>({...Object.fromEntries(f),..._})),$=async()=>{let{items:f}=await ke("/v1/holders",{names:d},"permits",void 0,1e5),_=new Map(f.map(h=>[h.token,h]));c(o.filter(h=>!_.has(h.permit.token)).map(h=>[h.permit.token,{how:"gone",after:Date.now()-r}]))};if(Se(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let _=new Set(o.map(h=>h.permit.token));c(f.filter(h=>h.permit&&_.has(h.permit.token)&&h.ended).map(h=>[h.permit.token,{how:N(h.ended,"PERMIT_END_"),after:Date.now()-r}]))},missed:()=>$().catch(()=>{})}),T(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return a`<p class="lead">No holder had to stop.</p>`;let m=l.filter(f=>Date.now()-r>I(f.free_within)),p=o.length-l.length;return a`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${R(o.length,"holder has","holders have")} stopped.`:`${v(p)} of ${R(o.length,"holder has","holders have")} stopped.`}
      ${m.length>0&&a` <strong>${R(m.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${_e} share=${p/o.length} tone=${m.length?"stop":"run"} label=${`${p} of ${o.length} stopped`} />
    <${V}
      caption="Holders that must stop"
      rows=${[...m,...l.filter(f=>!m.includes(f)),...o.filter(f=>s[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>a`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>L(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let _=s[f.permit.token];if(_)return a`<span class="tone-run">${_.how} after ${X(_.after)}</span>`;let h=r+I(f.free_within)-Date.now();return h>0?a`<span class="tone-wait">stops within <span class="num">${et(h)}</span></span>`:a`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function Ue({lasts:e,until:t}){return e?.trim()?{lasts:Te(e)}:t?{until:new Date(t).toISOString()}:{}}var De=e=>e?.trim()?{drain:Te(e)}:{};function He(e){try{return e(),""}catch(t){return t.message}}function Ye({value:e,set:t,without:n="It stays until somebody ends it."}){return a`<${P}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${He(()=>Te(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${P} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function We({value:e,set:t}){return a`<${P}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${He(()=>Te(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var ot=100,Cn=(e,t)=>{let n=[];for(let o=Math.floor(e/ot);o<=Math.floor(Math.max(e,t-1)/ot);o++)n.push(o);return n},lr=e=>({...e,deadline:e.holder?.expires_in?Date.now()+I(e.holder.expires_in):0}),Ks=e=>Math.max(Number(e.version),Number(e.permit_revision??0));function cr(e){let t=JSON.stringify(e),n=G(Ie),[,o]=g(0),r=()=>o(p=>p+1),s=ce(()=>({pages:new Map,revisions:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=Y(0),l=Y(s);l.current=s;let u=(p,f)=>{if(!f&&(s.pages.has(p)||s.asked.has(p)))return;s.asked.get(p)?.abort();let _=new AbortController;s.asked.set(p,_);let h=performance.now();x("/v1/definitions",{...e,page_size:ot,skip:p*ot},_.signal).then(w=>{if(l.current!==s)return;s.asked.delete(p),s.error=void 0,i.current=performance.now()-h;let y=new Map((s.pages.get(p)??[]).map(S=>[S.definition.name,S]));s.pages.set(p,(w.records??[]).map(S=>{let A=y.get(S.definition.name);return A&&Ks(A)>Number(w.revision)?A:lr(S)})),s.revisions.set(p,Number(w.revision)),s.round++,s.total=w.total??(w.records??[]).length,r()},w=>{_.signal.aborted||l.current!==s||(s.asked.delete(p),s.error=w,r())})},d=(p,f)=>{s.window=[p,f];let _=Cn(p,f);for(let[h,w]of s.asked)_.includes(h)||(w.abort(),s.asked.delete(h));for(let h of _)u(h)},c=()=>{let p=Cn(...s.window);for(let f of s.pages.keys())p.includes(f)||s.pages.delete(f);for(let f of p)u(f,!0)},$=Y(c);$.current=c,T(()=>(u(0),()=>s.asked.forEach(p=>p.abort())),[t]),T(()=>{n&&$.current()},[n]),T(()=>{let p=setInterval(()=>document.hidden||$.current(),It(i.current));return()=>clearInterval(p)},[t,s.round]);let m=p=>{let f=!1;for(let _ of s.pages.values())_.forEach((h,w)=>{_[w]=p(h),f||=_[w]!==h});f&&r()};return{at:p=>s.pages.get(Math.floor(p/ot))?.[p%ot],total:s.total,error:s.error,want:d,since:(p,f)=>Math.min(...Cn(p,f).map(_=>s.revisions.get(_)??1/0)),refresh:c,alter:m,update(p){let f=new Map(p.map(_=>[_.definition.name,lr(_)]));m(_=>f.get(_.definition.name)??_)}}}var ur=8,zt=4;function pr({total:e,height:t,row:n,range:o,open:r,label:s,head:i,columns:l}){let u=Y(null),[d,c]=g([0,30]),[$,m]=g(0),p=Y(!1);lt(()=>{let k=0,D=()=>{k=0;let U=u.current?.getBoundingClientRect();if(!U)return;let q=Math.max(0,Math.floor(-U.top/t/zt)*zt-ur),K=Math.min(e,Math.ceil((innerHeight-U.top)/t/zt)*zt+ur);c(ne=>ne[0]===q&&ne[1]===K?ne:[q,Math.max(q,K)])},F=()=>k||=requestAnimationFrame(D);D(),addEventListener("scroll",F,{passive:!0}),addEventListener("resize",F);let Q=new ResizeObserver(F);return Q.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",F),removeEventListener("resize",F),Q.disconnect()}},[e,t]),T(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),lt(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${$}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min($,Math.max(0,e-1)),_=k=>{if(e===0)return;p.current=!0,m(Math.max(0,Math.min(e-1,k)));let D=u.current.getBoundingClientRect().top+scrollY+k*t;(D<scrollY||D>scrollY+innerHeight)&&scrollTo(0,Math.max(0,D-innerHeight/2))},h=Math.max(1,Math.floor(innerHeight/t)-4),w={ArrowDown:()=>_(f+1),ArrowUp:()=>_(f-1),PageDown:()=>_(f+h),PageUp:()=>_(f-h),Home:()=>_(0),End:()=>_(e-1),Enter:()=>r?.(f)},y=k=>{!w[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),w[k.key]())},S=k=>{let D=k.target.closest("[data-row]");D&&m(Number(D.dataset.row))};T(()=>{let k=()=>_(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let A=[];for(let k=d[0];k<Math.min(d[1],e);k++)A.push(k);return e>0&&(f<d[0]||f>=d[1])&&A.push(f),a`<div class="grid" role="grid" aria-label=${s} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${S}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${A.map(k=>a`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function An(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Dn=e=>e.value.slice(17).toLowerCase();function zs({counts:e,total:t}){let[n,o]=j(),r=n.getAll("state"),s=i=>o({state:r.includes(i)?r.filter(l=>l!==i):[...r,i]});return a`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${r.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":v(t)}</span><span class="stat-w">all</span>
    </button>
    ${jt.map(i=>{let l=e?.get(i.value);return a`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${r.includes(Dn(i))}
        title=${i.help}
        onClick=${()=>s(Dn(i))}
      >
        <span class="stat-n num">${e?v(l):"–"}</span><span class="stat-w"><${gt} value=${i.value} text=${Dn(i)} /></span>
      </button>`})}
  </div>`}var Vs=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Js({labels:e}){let[t,n]=j(),o=t.get("labels")??"",[r,s]=ye(o,c=>n({labels:c}),400),[i,l]=g(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${Vs(c)}`].filter(Boolean).join(",")}),l(""))};return a`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${r} placeholder="team=data,tier!=test" onInput=${c=>s(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&a`<${xe} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&a`<${xe} label="Value" value="" onChange=${d} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${v(c.count)})`])]} />`}`}`}function Gs({summary:e,shown:t}){let[n,o]=j(),[r,s]=ye(n.get("q")??"",p=>o({q:p})),[i,l]=ye(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=E(p=>ke("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),$=Pt("(min-width: 60rem)");return a`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${r} placeholder="Words of name, description or label" onInput=${p=>s(p.target.value)} onKeyDown=${p=>{p.key!=="ArrowDown"&&p.key!=="Enter"||(p.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${$||u.some(p=>p==="group"||p==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${p=>l(p.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(p=>a`<option value=${p} />`)}</datalist>
        </div>
        <${Js} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&a`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var Rn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],On=class extends Xe{shouldComponentUpdate(t){return t.record!==this.props.record}render({record:t}){return a`<${Qs} record=${t} />`}};function Qs({record:e}){if(!e)return a`<span class="row-loading" role="gridcell" aria-colspan=${Rn.length}>Reading …</span>`;let t=e.definition,n=e.holder,o=(e.holders??0)-1,r=Ft(e)[0],s=`/s/${encodeURIComponent(t.name)}`,i=Number(e.used??0),l=t.permits??0,u=e.waiters??0;return a`
    <span class="c-state" role="gridcell"><${zo} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${s} tabindex="-1">${t.name}</a>
      <span class="sub">${r??t.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${_e} share=${l?i/l:i?1:0} tone=${i>l?"deny":"accent"} label="${i} of ${l} permits in use" />
      <span>${v(i)}<span class="faint"> / ${v(l)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${n?a`<span class="clip">${L(n.identity)}</span><span class="sub">for <${ae} at=${n.granted_at} />${o>0&&` and ${v(o)} more`}</span>`:a`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${n?a`<${qt} at=${e.deadline} of=${I(n.duration)} />`:a`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${u?a`<span class="tag tone-wait">${v(u)}</span>`:a`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${t.group_pattern}</code></span>`}var Ys=6e3;function dr(){oe("Overview");let[e]=j(),t=An(e),n=cr(t),o=Pt("(max-width: 47.99rem)"),r=Pt("(max-width: 63.99rem)"),s=o?104:r?76:52,{search:i,group:l,labels:u}=t,[d,c]=g(1e4),$=E(async D=>{let F=performance.now(),Q=await x("/v1/definitions:summarize",{search:i,group:l,labels:u},D);return c(It(performance.now()-F)),Q},["summary",i,l,u],{every:d,keep:!0}),m=ce(()=>$.data&&new Map(($.data.states??[]).map(D=>[D.state,D.count])),[$.data]),[p,f]=g({names:[]}),_=Y([0,0]),h=Le(()=>{let[D,F]=_.current,Q=[],U=0;for(let q=D;q<F&&U<Ys;q++){let K=n.at(q)?.definition.name;K&&(Q.push(K),U+=K.length+8)}f(q=>q.names.join(`
`)===Q.join(`
`)?q:{names:Q,from_revision:n.since(D,F)+1})},150),w=(D,F)=>{_.current=[D,F],n.want(D,F),h()};T(h),Se(p.names.length?"/v1/watch":null,{...p,permits:!0,records:!0,live_every:"2s"},{open:D=>D&&n.refresh(),missed:n.refresh,message({records:D=[],undefined:F=[]}){n.update(D),F.length&&n.refresh()},live(D){let F=new Map((D.live.semaphores??[]).map(U=>[U.semaphore,U])),Q=Date.now();n.alter(U=>{if(!p.names.includes(U.definition.name))return U;let q=F.get(U.definition.name),K=q?.waiters??0,ne=q?.deadlines?.find(se=>se.token===U.holder?.token)?.expires_in,b=ne?Q+I(ne):U.deadline;return K===(U.waiters??0)&&Math.abs(b-U.deadline)<200?U:{...U,waiters:K,deadline:b}})}});let y=D=>{let F=n.at(D);F&&pe(`/s/${encodeURIComponent(F.definition.name)}`)},S=n.total,A=S===void 0?"…":R(S,"semaphore","semaphores"),k=ce(()=>a`<${Z} aside=${a`<${Xs} />`}>Overview<//>
      <${qe} />
      <${zs} counts=${m} total=${$.data&&($.data.total??0)} />
      <${Gs} summary=${$.data} shown=${A} />`,[m,$.data,A]);return a`${k}
    ${n.error&&!n.error.offline&&a`<${B} error=${n.error} retry=${n.refresh} />`}
    ${S===void 0?!n.error&&a`<${me} what="Reading the semaphores" />`:S===0?a`<${Zs} filtered=${[...e].length>0} />`:a`<${pr}
            label="Semaphores"
            total=${S}
            height=${s}
            columns=${Rn.length}
            range=${w}
            open=${y}
            head=${Rn.map(D=>a`<span role="columnheader">${D}</span>`)}
            row=${D=>a`<${On} record=${n.at(D)} />`}
          />`}`}function Xs(){let[e,t]=g(!1),[n,o]=g("");return a`<${H} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&a`<${le} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${s=>{s.preventDefault(),n.trim()&&pe(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${P} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Zs({filtered:e}){return e?a`<${O} title="No semaphore matches.">Remove a filter to see more.<//>`:a`<${O} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var ea=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],mr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function $r(){let[e,t]=j(),[n,o]=g(e.getAll("names").join(`
`)),[r,s]=g(e.get("labels")??""),[i,l]=g(e.get("all")==="1"),[u,d]=g(null),c=An(e),$=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);T(()=>{$&&ke("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:f})=>{o(p.map(_=>_.definition.name).join(`
`)),s(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let m=i?{all:!0}:{...mr(n).length&&{names:mr(n)},...r.trim()&&{labels:r.trim()}};return{names:n,setNames:o,labels:r,setLabels:s,everything:i,setEverything:l,selector:m,error:u,given:i||n.trim()!==""||r.trim()!==""}}function hr({of:e,optional:t}){let n=E(e.given?s=>x("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},s):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],r=n.data?.total??0;return a`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${P} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${P} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${ie} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&a`<${B} error=${e.error} />`}
    ${n.error&&!n.error.offline&&a`<${B} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${R(r,"semaphore","semaphores")} chosen${o.length?`: ${Me(o.map(s=>s.definition.name),4)}${r>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function In({of:e,onAgain:t}){return a`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${ir} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${H} role=${e.role} onClick=${()=>Qe(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function Nn(){let[e,t]=g(null);return[e,(o,r)=>(s,i)=>{let l=s.change??s.revision??s.cordon?.revision;l&&l!=="0"&&t({text:o,role:r,change:l,effects:s.effects?.length?s.effects:i.effects??[]})},()=>t(null)]}function gr({id:e}){let t=E(o=>ke("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return a`<datalist id=${e}>${n.map(o=>a`<option value=${o} />`)}</datalist>`}function ta({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return a`
    <p class="lead">${e.moves?.length?`${R(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&a`<span class="faint"> ${v(n)} need no move.</span>`}</p>
    ${e.mistake&&a`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&a`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>a`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&a`<div class="warnings"><p>${R(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>a`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function na(){let e=$r(),[t]=j(),[n,o]=g({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[r,s]=g(!1),[i,l,u]=Nn(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...De(n.drain),...de()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":He(()=>De(n.drain));return i?a`<${In} of=${i} onAgain=${u} />`:a`<form class="stack" onSubmit=${$=>($.preventDefault(),c||s(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${P} label="From group" value=${n.from} onInput=${$=>o({...n,from:$})} list="move-groups" required />
        <${P} label="To group" value=${n.to} onInput=${$=>o({...n,to:$})} list="move-groups" required />
        <${We} value=${n} set=${o} />
        <${gr} id="move-groups" />
      </div>
    </fieldset>
    <${hr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${H} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${r&&a`<${$e}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${$=>`Move ${R($.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async $=>C("/v1/move",{...d(),dry_run:!0},$)}
      extra=${$=>a`<${ta} of=${$} />`}
      nothing=${$=>$.moves?.length?"":$.mistake||"There is nothing to move."}
      run=${async($,m)=>C("/v1/move",{...d(),expected:m.digest,...$})}
      done=${$=>`${R($.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function fr({resume:e}){let t=$r(),[n,o]=g({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[r,s]=g(!1),[i,l,u]=Nn(),d=()=>e?{selector:t.selector}:{selector:t.selector,...Ue(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...De(n.drain)}},c=t.given?He(()=>(Ue(n),De(n.drain))):"Choose some semaphores first.";if(i)return a`<${In} of=${i} onAgain=${u} />`;let $=e?"resume":"pause";return a`<form class="stack" onSubmit=${m=>(m.preventDefault(),c||s(!0))}>
    <${hr} of=${t} />
    ${!e&&a`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${Ye} value=${n} set=${o} without="Empty: until it is resumed." />
        <${ie} label="Stop holders too" checked=${n.stop} onChange=${m=>o({...n,stop:m})} help="Otherwise running work continues to its end." />
        ${n.stop&&a`<${We} value=${n} set=${o} />`}
        <${ie} label="Leave paused ones as they are" checked=${n.keep} onChange=${m=>o({...n,keep:m})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${H} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${r&&a`<${$e}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async m=>C("/v1/preview",{[$]:d()},m)}
      run=${async(m,p)=>C(`/v1/${$}`,{...d(),expected:p.digest,...m})}
      done=${m=>`${R(m.names?.length??0,"semaphore","semaphores")} ${$}d.`}
      onDone=${(m,p)=>l(`${R(m.names?.length??0,"semaphore","semaphores")} ${$}d`,"ROLE_OPERATOR")(m,p)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function oa(){let[e]=j(),[t,n]=g({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,r]=g(!1),[s,i,l]=Nn(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Ue(t),...De(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":He(()=>u());return s?a`<${In} of=${s} onAgain=${l} />`:a`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||r(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${P} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${P} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${Ye} value=${t} set=${n} without="Empty: until it is ended." />
        <${We} value=${t} set=${n} />
        <${gr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${H} role="ROLE_OPERATOR" type="submit" kind="primary" why=${d}>Preview the cordon …<//></p>
    ${o&&a`<${$e}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:u()},c)}
      run=${async c=>C("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,$)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,$)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function _r(){oe("Move and pause");let[e]=j(),t=e.get("do")??"move";return a`<${Z}>Move and pause<//>
    <${qe} />
    <${nt} of=${ea} query="do" label="What to do" />
    ${t==="pause"?a`<${fr} key="pause" />`:t==="resume"?a`<${fr} key="resume" resume />`:t==="cordon"?a`<${oa} />`:t==="move"?a`<${na} />`:a`<${O} title="There is no such form." />`}`}var br=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Me(e.names??[]),vr=e=>e.names?.length===1?e.names[0]:"";function yr({selector:e,onClose:t,onDone:n}){let[o,r]=g({lasts:"",until:"",stop:!1,drain:""}),s=()=>({selector:e,...Ue(o),...o.stop?{stop:!0,...De(o.drain)}:{}});return a`<${$e}
    title=${`Pause ${br(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${vr(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:s()},i)}
    run=${async(i,l)=>C("/v1/pause",{...s(),expected:l.digest,...i})}
    done=${i=>`${R(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${Ye} value=${o} set=${r} without="Empty: until it is resumed." />
      <${ie} label="Stop holders too" checked=${o.stop} onChange=${i=>r({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&a`<${We} value=${o} set=${r} />`}
    </div>
  <//>`}function wr({selector:e,onClose:t,onDone:n}){return a`<${$e}
    title=${`Resume ${br(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${vr(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,r)=>C("/v1/resume",{selector:e,expected:r.digest,...o})}
    done=${o=>o.names?.length?`${R(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function kr({name:e}){let[t,n]=j(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[r,s]=g(o),l=E(m=>x("/v1/known",{page_size:1e3},m),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=E(o.acquirer?m=>C(re`/v1/semaphores/${e}:explain`,u,m):null,["explain",e,o],{keep:!0,every:5e3}),c=m=>{m.preventDefault(),n(r),d.refresh()},$=m=>p=>s({...r,[m]:p});return a`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${P} label="Group" value=${r.group} onInput=${$("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${P} label="Acquirer" value=${r.acquirer} onInput=${$("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${P} label="Weight" type="number" min="1" value=${r.weight} onInput=${$("weight")} placeholder="1" />
      <${ie} label="It is a worker" checked=${r.worker==="1"} onChange=${m=>$("worker")(m?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(m=>m.group))].map(m=>a`<option value=${m} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(m=>m.acquirer))].map(m=>a`<option value=${m} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&a`<${B} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&a`<${me} what="Asking" />`}
    ${d.data&&a`<${ra} of=${d.data} />`}
  </section>`}function ra({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return a`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${N(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&a`<p class="note">Nothing is granted for another ${Math.ceil(I(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>a`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&a`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>a`${o?", ":""}${L(n.identity)} for <${ae} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${v(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&a`<p>${R(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&a`<p>${e.why_tasks_wait}</p>`}
  </div>`}var sa={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function aa(e,t){let n="",o,r=[];do o=await x("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),r.push(...o.firings??[]),n=o.next_page_token??"";while(n&&r.length<2e4);return{...o,firings:r.reverse()}}function Er({name:e,events:t}){let n=E(u=>aa(e,u),["firings",e,t],{keep:!0}),[o,r]=g(null),[s,i]=g(100),l=o&&{semaphore:e,firings:[o.firing],...de()};return a`<section class="panel">
    <h2>Firings</h2>
    <${z} of=${n} what="Reading the firings">
      ${u=>a`
        <p class="faint">${v(u.count)} remembered, at most ${v(u.limit)}.${u.forgotten_up_to&&` Those due until ${M(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${V}
          caption="Firings"
          rows=${u.firings.slice(0,s)}
          rowKey=${d=>je(d.firing)}
          empty=${a`<${O} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",d=>je(d.firing),"name"],["State",d=>a`<span class="tag tone-${sa[N(d.state,"FIRING_STATE_")]??"idle"}">${N(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?L(d.winner):"–","name"],["Claimed at",d=>M(d.claimed_at)||"–","num"],["Attempts",d=>v(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>a`<${H} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>r(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>s&&a`<button type="button" onClick=${()=>i(s*5)}>Show more</button>`}`}
    <//>
    ${o&&a`<${$e}
      title=${`Forget ${je(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>C("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>C("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${je(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>r(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function xr({name:e,events:t,onChange:n}){let[o,r]=j(),s=o.get("permits")==="1",[i,l]=g(50),u=E(d=>x("/v1/history",{names:[e],permits:s,page_size:i},d),["history",e,s,i,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ie} label="Also how permits ended" checked=${s} onChange=${d=>r({permits:d?"1":""})} />
    </div>
    <${z} of=${u} what="Reading the journal">
      ${d=>a`
        ${d.entries?.length?a`<${$t} entries=${d.entries} semaphore=${e} onChange=${n} />`:a`<${O} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&a`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Mn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Ln=4,Tr=12,ia={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function Sr({name:e,permits:t,events:n}){let[o,r]=j(),s=Mn.find(([u])=>u===o.get("span"))??Mn[0];Re();let i=Date.now()-s[1],l=E(u=>x("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-s[1]).toISOString(),page_size:1e3},u),["timeline",e,s[0],n],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Mn.map(([u])=>a`<button type="button" key=${u} aria-pressed=${u===s[0]} onClick=${()=>r({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${z} of=${l} what="Reading the journal">
      ${u=>a`<${la} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function la({entries:e,permits:t,from:n,to:o,more:r}){let s=[...t.map(c=>({who:L(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let $=N(c.permit.ended,"PERMIT_END_")||N(c.kind,"EVENT_KIND_");return{who:L(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:$,tone:ia[$]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of s)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return a`<${O} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return a`<div class="timeline">
    ${[...l].slice(0,Tr).map(([c,$])=>{let m=$[0],p=`${c}: ${R($.length,"permit","permits")}, the last from ${M(m.from)}, ${m.how}`;return a`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${$.map(f=>a`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${M(f.from)}, ${f.how} after ${X(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${d.map(f=>a`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${N(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${M(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Ln+1},(c,$)=>a`<span key=${$}>${$===Ln?"now":tt(n+(o-n)*$/Ln).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>Tr||r)&&a`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function ca({permit:e,onClose:t,onDone:n}){let[o,r]=g({reason:"",drain:"",unsafe:!1}),[s,i]=g(null),[l,u]=g(!1);return a`<${le} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let $={reason:o.reason,...de()};o.drain.trim()&&($.drain=Te(o.drain)),o.unsafe&&($.unsafe_now=!0),await C(re`/v1/permits/${e.token}:revoke`,$),ge(`The permit of ${L(e.identity)} is revoked.`),n(),t()}catch($){i($),u(!1)}}}}>
      <p>${L(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${P} label="Reason" value=${o.reason} onInput=${c=>r({...o,reason:c})} maxlength="1024" />
      <${P} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>r({...o,drain:c})} error=${He(()=>Te(o.drain))} help="How long it may continue. Empty: not at all." />
      <${ie} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>r({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${B} error=${s} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function ua({permit:e,onClose:t,onDone:n}){let[o,r]=g(""),[s,i]=g(null);return a`<${le} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),C(re`/v1/permits/${e.token}:clear`,{reason:o,...de()}).then(()=>{ge("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${L(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${P} label="Reason" value=${o} onInput=${r} maxlength="1024" />
      <${B} error=${s} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var pa=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function da({permits:e,onChange:t}){let[n,o]=g(null),r=()=>o(null);return a`<section class="panel">
    <h2>Holders</h2>
    <${V}
      caption="Holders"
      rows=${e}
      rowKey=${s=>s.token}
      empty=${a`<${O} title="Nobody holds a permit." />`}
      columns=${[["Holder",s=>a`${L(s.identity)}${s.identity?.holder_id&&a`<div class="sub">${s.identity.holder_id}</div>`}`,"name"],["State",s=>a`<span class="tone-${Io(s)}">${Ao(s)}</span>`],["Since",s=>a`<${ae} at=${s.granted_at} />`,"num"],["Time left",s=>a`<${qt} at=${s.deadline} of=${I(s.duration)} />`,"num"],["Weight",s=>v(s.weight),"num"],["Token",s=>s.token,"num"],["For",s=>[je(s.firing),pa(s.metadata)].filter(Boolean).join("; ")||"–"],["",s=>s.state==="PERMIT_STATE_HELD"?a`<${H} role="ROLE_OPERATOR" semaphore=${s.semaphore} onClick=${()=>o({clear:s})}>Clear …<//>`:s.state==="PERMIT_STATE_COOLING"?null:a`<${H} role="ROLE_OPERATOR" semaphore=${s.semaphore} group=${s.identity?.group} acquirer=${s.identity?.acquirer} onClick=${()=>o({revoke:s})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&a`<${ca} permit=${n.revoke} onClose=${r} onDone=${t} />`}
    ${n?.clear&&a`<${ua} permit=${n.clear} onClose=${r} onDone=${t} />`}
  </section>`}function ma({data:e}){let t=n=>new Date(e.at-I(n.waiting)).toISOString();return a`<section class="panel">
    <h2>Queue</h2>
    <${V}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${a`<${O} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>L(n.identity),"name"],["Weight",n=>v(n.weight),"num"],["Waiting for",n=>a`<${ae} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>a`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${v(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var fa=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function $a({rows:e,caption:t}){return a`<${V}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${L(n.identity)}`}
    columns=${[["Caller",n=>L(n.identity),"name"],["Why",n=>a`${n.message}<div class="sub">${N(n.reason,"REASON_")}${n.let_in&&`; ${L(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>v(n.count),"num"],["Last",n=>a`<span title=${M(n.last)}><${ae} at=${n.last} /> ago</span>`,"num"],["",n=>a`<a href=${n.semaphore?fa(n):void 0}>Explain</a>`,"end"]]}
  />`}function ha({name:e,events:t}){let n=E(o=>x("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return a`<section class="panel">
    <h2>Denied</h2>
    <${z} of=${n} what="Reading who was denied">
      ${o=>a`
        ${o.callers?.length?a`<${$a} rows=${o.callers} caption="Callers that were denied" />`:a`<${O} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&a`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(r=>a`<li>${L(r.identity)} asks for <code>${r.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function Cr({name:e,of:t}){return a`<div class="stack">
    <${z} of=${t.holders} what="Reading who holds it">${n=>a`<${da} permits=${n} onChange=${t.read} />`}<//>
    <${Sr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${z} of=${t.waiters} what="Reading the queue">${n=>a`<${ma} data=${n} />`}<//>
      <${ha} name=${e} events=${t.events} />
    </div>
  </div>`}function Vt(e={}){let t={};for(let n of fe){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(r=>o[r]===""?r:`${r}=${o[r]}`).join(`
`);break;case"duration":t[n.name]=Ge(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Pe(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function Dr(e,t={}){let n={...t},o={};for(let r of fe){let s=e[r.name]??"";try{let i=ga(r,s);i===void 0?delete n[r.name]:n[r.name]=i}catch(i){o[r.name]=i.message}}return{definition:n,errors:o}}function ga(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(r=>r.trim()).filter(Boolean)){let r=o.indexOf("="),s=(r<0?o:o.slice(0,r)).trim();if(!s)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,s))throw new Error(`The key ${s} stands here twice.`);Object.defineProperty(n,s,{value:r<0?"":o.slice(r+1).trim(),enumerable:!0})}return n}case"duration":return Te(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function Rr(e,t,n){let o={},r=[],s=[];for(let i of fe){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(r.push(i.name),o[i.name]=d),(u!==l||d!==l)&&s.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:r,rows:s}}function Or({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:r,conflicts:s,rows:i}=e,[l,u]=g({}),d=s.filter(m=>!l[m]),c=()=>{let m={...e.merged};for(let p of i)l[p.field.name]&&(m[p.field.name]=p[l[p.field.name]]);n(m)},$=m=>{let p=m.field.name;if(!s.includes(p))return m.mine===m.theirs?a`<${Wt}>the same<//>`:m.mine!==m.base?a`<${Wt} tone="accent">yours<//>`:a`<${Wt} tone="wait">theirs<//>`;let f=(_,h)=>a`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===_} onChange=${()=>u({...l,[p]:_})} /> ${h}
    </label>`;return a`<fieldset class="radios"><legend class="sr-only">Which ${m.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return a`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${r.updated_by||"Somebody"} saved version ${r.version} at ${M(r.updated_at)}${r.reason&&` (${r.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${V}
      caption="Fields that differ"
      rows=${i}
      rowKey=${m=>m.field.name}
      columns=${[["Field",m=>m.field.label],["When you began",m=>a`<code>${m.base||"(none)"}</code>`],["Yours",m=>m.mine===m.base?a`<span class="faint">unchanged</span>`:a`<ins>${m.mine||"(none)"}</ins>`],["Theirs",m=>m.theirs===m.base?a`<span class="faint">unchanged</span>`:a`<ins class="theirs">${m.theirs||"(none)"}</ins>`],["Keep",$]]}
    />
    <p class="row end">
      <span class="grow" role="status">${d.length?`Choose for ${d.length===1?"1 field":`${d.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${d.length?"true":void 0} onClick=${()=>d.length||c()}>Review the result …</button>
    </p>
  </section>`}var Pn=60;function Ar({name:e,group:t,acquirer:n}){let[o,r]=g({group:t,acquirer:n});T(()=>{let p=setTimeout(()=>r({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let s=E(p=>ke("/v1/known",{},"callers",p,1e3),["known"]),i=E(o.group&&o.acquirer?async p=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=s.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",$=d.size>=u,m=[...l].sort((p,f)=>d.has(`${f.acquirer} in ${f.group}`)-d.has(`${p.acquirer} in ${p.group}`));return a`<div class="pattern-test full" aria-live="polite">
    ${c?a`<p class="error">${c}</p>`:l.length===0?a`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:a`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?v(u):"none"} of ${R(l.length,"known caller","known callers")}${s.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${m.slice(0,Pn).map(p=>{let f=`${p.acquirer} in ${p.group}`,_=d.has(f);return!_&&!$?null:a`<li key=${f} class=${_?"in":"out"}><span aria-hidden="true">${_?"✓":"✗"}</span><span class="sr-only">${_?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Pn&&a`<li class="out">and ${v(l.length-Pn)} more</li>`}</ul>`}
  </div>`}var Ir={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Nr({name:e,record:t,onSaved:n}){let[o,r]=j();if(o.get("edit")==="1"||!t)return a`<${_a} name=${e} record=${t} onSaved=${n} onDone=${()=>r({edit:""})} />`;let i=t.definition;return a`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${H} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>r({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ce} of=${fe.map(l=>[l.label,Pe(l,i)&&(l.kind==="pattern"?a`<code>${Pe(l,i)}</code>`:Pe(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var Jt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function _a({name:e,record:t,onSaved:n,onDone:o}){let[r,s]=g(t),[i,l]=g(()=>Vt(t?.definition??Ir)),[u,d]=g({}),[c,$]=g(!1),[m,p]=g(null),[f,_]=g({}),h=ce(()=>Vt(r?.definition??Ir),[r]),{definition:w,errors:y}=Dr(i,r?.definition??{name:e}),S=!r||fe.some(b=>i[b.name]!==h[b.name]),A=Object.keys(y).length>0,k=t&&r&&t.version!==r.version?t:null;T(()=>{if(!S||!r)return;let b=se=>se.preventDefault();return addEventListener("beforeunload",b),()=>removeEventListener("beforeunload",b)},[S]);let D=b=>se=>{l(W=>({...W,[b]:se})),_(W=>({...W,[b]:void 0}))},F=r?{replace:w,expected_version:r.version}:{create:{...w,name:e}},Q=()=>({edits:[F],...De(u.drain),...r?Ue(u):{}}),U=b=>p({theirs:b,...Rr(h,i,Vt(b.definition))}),q=b=>{if(b.reason==="STALE_VERSION")return x(re`/v1/definitions/${e}`).then(W=>U(W.record),W=>ge(W.message,{tone:"deny"})),!0;let se=b.fields?.filter(W=>fe.some(ve=>W.field.endsWith(ve.name)))??[];return se.length===0?!1:(_(Object.fromEntries(se.map(W=>[fe.find(ve=>W.field.endsWith(ve.name)).name,W.rule]))),!0)},K=b=>{let se=y[b.name]??f[b.name],W=i[b.name],ve={key:b.name,label:b.label,help:b.help,error:se,class:W!==h[b.name]?"changed":""};if(b.kind==="flag")return a`<${ie} ...${ve} checked=${W==="yes"} onChange=${_t=>D(b.name)(_t?"yes":"no")} />`;if(b.kind==="choice")return a`<${xe} ...${ve} value=${W} onChange=${D(b.name)} options=${b.values.map(_t=>[_t.toLowerCase(),_t.toLowerCase()])} />`;let Gt=b.kind==="labels"?3:b.name==="description"?2:void 0;return a`<${P} ...${ve} value=${W} onInput=${D(b.name)} area=${Gt} name=${b.name} inputmode=${b.kind==="number"?"numeric":void 0} />`},ne=b=>{b.preventDefault(),!A&&S&&$(!0)};return m?a`<${Or}
      of=${m}
      base=${r}
      onCancel=${()=>p(null)}
      onMerged=${b=>{s(m.theirs),l(b),p(null),$(!0)}}
    />`:a`<section class="panel">
    <div class="title"><h2>${r?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&a`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${M(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>U(k)}>Compare and merge</button></p>`}
    <form onSubmit=${ne}>
      <div class="form">
        ${fe.filter(b=>!Jt.includes(b.name)&&b.kind!=="pattern"&&["description","labels"].includes(b.name)).map(K)}
        ${fe.filter(b=>b.kind==="pattern").map(K)}
        <${Ar} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${fe.filter(b=>!Jt.includes(b.name)&&b.kind!=="pattern"&&!["description","labels"].includes(b.name)).map(K)}
      </div>
      <details open=${Jt.some(b=>i[b]!==h[b]||y[b])}>
        <summary>Firings</summary>
        <div class="form">${fe.filter(b=>Jt.includes(b.name)).map(K)}</div>
      </details>
      <p class="row end sticky-end">
        ${S&&a`<span class="grow faint">Nothing is saved yet.</span>`}
        ${r&&a`<button type="button" onClick=${o}>${S?"Discard":"Back"}</button>`}
        <${H} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${A?"A field has a mistake.":S?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&a`<${$e}
      title=${r?`Save ${e}`:`Create ${e}`}
      verb=${r?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async b=>C("/v1/preview",{edits:Q()},b)}
      run=${async b=>C("/v1/definitions:edit",{...Q(),...b})}
      done=${b=>`${e} is ${r?"saved":"created"}, as change ${b.revision}.`}
      onError=${q}
      onClose=${()=>$(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${r&&a`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${Ye} value=${u} set=${d} without="Then the old values come back. Empty: for good." /><${We} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function Mr({name:e,events:t}){let n=E(r=>x("/v1/jobs",{semaphore:e,page_size:200},r),["jobs",e,t],{every:5e3,keep:!0}),o=E(r=>x("/v1/workers",{semaphore:e},r),["workers",e,t],{every:5e3,keep:!0});return a`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${z} of=${n} what="Reading the jobs">
        ${r=>r.jobs?.length?a`<${Tn} jobs=${r.jobs} />`:a`<${O} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${z} of=${o} what="Reading the workers">${r=>a`<${Sn} data=${r} />`}<//>
    </section>
  </div>`}var ba=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],va=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+I(n.expires_in):0}));function ya(e){let t=E(d=>x(re`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=E(async d=>{let c=Date.now();return va((await ke("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=E(async d=>({at:Date.now(),...await x("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[r,s]=g(null),[i,l]=g(0),u=Le(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40,{rest:1e3});return Se("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=(d.live.semaphores??[]).find(p=>p.semaphore===e),$=Date.now(),m=new Map((c?.deadlines??[]).map(p=>[p.token,$+I(p.expires_in)]));n.set(p=>p?.map(f=>m.has(f.token)?{...f,deadline:m.get(f.token)}:f)),r&&(c?.waiters??0)!==r.waiters&&o.refresh(),s({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:r,events:i,read:u}}function wa({record:e,onChange:t}){let[n,o]=g(""),r=e.definition.name,s=()=>o("");return a`
    ${e.pause?a`<${H} role="ROLE_OPERATOR" semaphore=${r} onClick=${()=>o("resume")}>Resume …<//>`:a`<${H} role="ROLE_OPERATOR" semaphore=${r} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(r)}`}>Move …</a>
    <${H} role="ROLE_EDITOR" semaphore=${r} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&a`<${yr} selector=${{names:[r]}} onClose=${s} onDone=${t} />`}
    ${n==="resume"&&a`<${wr} selector=${{names:[r]}} onClose=${s} onDone=${t} />`}
    ${n==="delete"&&a`<${$e}
      title=${`Delete ${r}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${r}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:r,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:r,expected_version:e.version}],...i})}
      done=${()=>`${r} is deleted.`}
      onDone=${()=>pe("/")}
      onClose=${s}
    />`}`}function ka({record:e,holders:t,live:n}){let o=Number(e.used??0),r=e.definition.permits??0;return a`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${v(o)}<span class="faint"> / ${v(r)}</span></dd>
      <dd><${_e} share=${r?o/r:o?1:0} label="${o} of ${r} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${v(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${v(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Lr({name:e}){oe(e);let t=ya(e),[n]=j(),o=n.get("tab")??"now",r=t.record.data?.record,s=t.record.error?.code==="NOT_FOUND",i=s&&!r;return a`
    <${Z} aside=${r&&a`<${wa} record=${r} onChange=${t.read} />`}>${e}<//>
    <${qe} />
    ${s&&a`<p class="note">There is no definition of this name${r?" any more":""}. Its history and firings may still be known.</p>`}
    ${r&&!s&&a`<div class="standing">
      <p class="row">${ft(r).map(l=>a`<${gt} key=${l.value} value=${l.value} />`)}</p>
      ${Ft(r).map(l=>a`<p class="note">${l}</p>`)}
      <${ka} record=${r} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!s&&!t.record.error.offline&&a`<${B} error=${t.record.error} retry=${t.record.refresh} />`}
    <${nt} of=${ba} label="Parts of this semaphore" />
    ${!r&&!s?!t.record.error&&a`<${me} what="Reading the semaphore" />`:o==="rule"?a`<${Nr} key=${e} name=${e} record=${s?null:r} onSaved=${t.read} />`:o==="history"?a`<${xr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?a`<${Er} name=${e} events=${t.events} />`:o==="explain"?a`<${kr} name=${e} />`:i?a`<${O} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?a`<${Mr} name=${e} events=${t.events} />`:a`<${Cr} name=${e} of=${t} />`}`}var Ea=[[/^\/$/,dr],[/^\/s\/(.+)$/,Lr],[/^\/move$/,_r],[/^\/activity$/,Bo],[/^\/jobs$/,or],[/^\/jobs\/(.+)$/,sr],[/^\/cluster$/,tr],[/^\/access$/,Wo]];function xa(){return oe("No such page"),a`<${Z}>No such page<//><${O} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function Ta(){let e=G(Ve).split("?")[0],t=G(Ie),[n,o]=g(!1),r=G(Ee);if(T(()=>{e!=="/login"&&!Ee.get()&&pn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return a`<${Ut} bare><${ar} /><//>`;if(!r&&!n)return a`<${Ut} bare><${me} what="Asking who you are" /><//>`;let[s,i]=fo(e,Ea)??[xa,[]];return a`<${Ut}><${s} key=${e} name=${i[0]} /><//>`}Qn(a`<${Ta} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
